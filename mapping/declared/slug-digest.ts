import { createHash } from 'node:crypto';
import { SLUG_MAX_LENGTH } from '../../contract/files/limits.ts';
import { type Columns, parseTemplate } from '../values/template.ts';

/** A digest begins with a letter, so that it differs from a date of eight digits at the end of a name. */
const DIGEST = /[a-f][0-9a-f]{7}/;
export const ENDS_LIKE_DIGEST = new RegExp(`(^|-)${DIGEST.source}$`);
const DIGEST_LENGTH = 8;

/**
 * Makes the function that returns the slug of a row's market. A slug without a digest belongs only to the name that it spells
 * exactly. Every other name gets a digest of the values of `match`. So the slug depends only on the name, not on the other rows
 * of the file, nor on their order.
 *
 * @param template the template of the slug
 * @param match the columns that distinguish markets
 * @param spelled fills in the template
 */
export function slugWithDigest(
  template: string,
  match: readonly string[],
  spelled: (columns: Columns) => string,
): (columns: Columns) => string {
  const isInvertible = canBeReadBack(template, match);
  // With hyphens in the values, a slug of several values would be ambiguous.
  const exact = match.length === 1 ? /^[a-z0-9]+(-[a-z0-9]+)*$/ : /^[a-z0-9]+$/;
  return (columns) => {
    const slug = spelled(columns);
    const values = match.map((column) => columns.get(column));
    const isSpelled = isInvertible && values.every((value) => exact.test(value)) && !ENDS_LIKE_DIGEST.test(slug);
    if (isSpelled && slug.length <= SLUG_MAX_LENGTH) return slug;
    const hex = createHash('sha256').update(JSON.stringify(values)).digest('hex');
    const [digest] = DIGEST.exec(hex) ?? [`a${hex.slice(0, DIGEST_LENGTH - 1)}`];
    const words = slug
      .slice(0, SLUG_MAX_LENGTH - DIGEST_LENGTH - 1)
      .replace(/^-+|-+$/g, '')
      .replace(/-+/g, '-');
    return words === '' ? digest : `${words}-${digest}`;
  };
}

/** Whether the template has each column of `match` once and no other column, with hyphens between it and any other text. */
function canBeReadBack(template: string, match: readonly string[]): boolean {
  const parts = parseTemplate(template) ?? [];
  const named = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.column]));
  if (named.length !== match.length || match.some((column) => !named.includes(column))) return false;
  return parts.every((part, index) => {
    if (typeof part === 'string') return true;
    const [before, after] = [parts[index - 1], parts[index + 1]];
    const isApart = (text: typeof before, edge: RegExp) =>
      text === undefined || (typeof text === 'string' && edge.test(text));
    return isApart(before, /-$/) && isApart(after, /^-/);
  });
}
