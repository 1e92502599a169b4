/** Writes JSON with comments, for people to edit. */

/** A value with lines of comment above it. */
export class Commented {
  readonly value: unknown;
  readonly comment: string;

  constructor(value: unknown, comment: string) {
    this.value = value;
    this.comment = comment;
  }
}

const LINE_CHARACTERS = 110;

/** The text, indented by two spaces. A short value without a comment in it is on one line. Undefined members are left out. */
export function writeCommentedJson(commented: unknown, indent = ''): string {
  const value = commented instanceof Commented ? commented.value : commented;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  const inner = `${indent}  `;
  const texts = members.map(
    ([key, each]) => `${isList ? '' : `${JSON.stringify(key)}: `}${writeCommentedJson(each, inner)}`,
  );
  const comments = members.map(([, each]) => (each instanceof Commented ? commentLines(each.comment, inner) : ''));
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const margin = isList || texts.length === 0 ? '' : ' ';
  const short = open + margin + texts.join(', ') + margin + close;
  const isShort = indent.length + short.length < LINE_CHARACTERS && !short.includes('\n');
  if (isShort && comments.join('') === '') return short;
  const lines = texts.map((text, index) => `${comments[index]}${inner}${text}${index < texts.length - 1 ? ',' : ''}\n`);
  return `${open}\n${lines.join('')}${indent}${close}`;
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
