/** Writes JSON with comments, for people to edit. */

export type CommentedJson = string | number | boolean | null | readonly CommentedJson[] | CommentedObject;

/** Fields in order. Each may have lines of comment above it. */
export interface CommentedObject {
  readonly fields: readonly CommentedField[];
}

export interface CommentedField {
  readonly key: string;
  readonly value: CommentedJson;
  readonly comment: string;
}

const LINE_CHARACTERS = 110;

export function field(key: string, value: CommentedJson, comment = ''): CommentedField {
  return { key, value, comment };
}

/** An object; `false` stands for a field that is left out. */
export function object(...fields: readonly (CommentedField | false)[]): CommentedObject {
  return { fields: fields.filter((each) => each !== false) };
}

/** The text, indented by two spaces. Lists and small objects without comments take one line. */
export function writeCommentedJson(value: CommentedJson, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const short = writeShort(value);
  if (short !== null && indent.length + short.length < LINE_CHARACTERS) return short;
  const inner = `${indent}  `;
  if (isList(value)) {
    return `[\n${value.map((each) => inner + writeCommentedJson(each, inner)).join(',\n')}\n${indent}]`;
  }
  const lines = value.fields.map(({ key, value: each, comment }, index) => {
    const text = `${inner}${JSON.stringify(key)}: ${writeCommentedJson(each, inner)}`;
    const comma = index < value.fields.length - 1 ? ',' : '';
    return `${commentLines(comment, inner)}${text}${comma}\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

/** The value in one line; null if it has a comment or holds an object that takes more. */
function writeShort(value: CommentedJson): string | null {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) {
    const parts = value.map(writeShort);
    return parts.includes(null) ? null : `[${parts.join(', ')}]`;
  }
  const parts = value.fields.map(({ key, value: each, comment }) => {
    const text = comment === '' ? writeShort(each) : null;
    return text === null ? null : `${JSON.stringify(key)}: ${text}`;
  });
  return parts.includes(null) ? null : `{ ${parts.join(', ')} }`;
}

function commentLines(comment: string, indent: string): string {
  const lines: string[] = [];
  for (const word of comment.split(/\s+/).filter((each) => each !== '')) {
    const last = lines.at(-1);
    if (last === undefined || indent.length + last.length + word.length >= LINE_CHARACTERS) lines.push(`// ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => `${indent}${line}\n`).join('');
}

/** `Array.isArray` does not narrow a readonly list. */
function isList(value: CommentedJson): value is readonly CommentedJson[] {
  return Array.isArray(value);
}
