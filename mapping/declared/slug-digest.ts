import { createHash } from 'node:crypto';
import { SLUG_MAX_LENGTH } from '../../contract/files/limits.ts';
import { type Columns, parseTemplate } from '../values/template.ts';

/** A digest begins with a letter, so that a name may end in a date of eight digits. */
const DIGEST = /[a-f][0-9a-f]{7}/;
export const ENDS_LIKE_DIGEST = new RegExp(`(^|-)${DIGEST.source}$`);
const DIGEST_LENGTH = 8;

/**
 * Makes the function that gives the slug of a row's market. A slug without a digest belongs to one name alone, the one that
 * it spells; a name that it does not spell exactly gets a digest of the values of `match`. So the slug of a name depends on the
 * name alone: not on the other rows of the file, nor on their order.
 *
 * @param template of the slug
 * @param match the columns that tell markets apart
 * @param spelled fills in the template
 */
export function slugWithDigest(
  template: string,
  match: readonly string[],
  spelled: (columns: Columns) => string,
): (columns: Columns) => string {
  const isInvertible = canBeReadBack(template, match);
  // Values with hyphens would make a slug of several values ambiguous.
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

/** Whether the template has each column of `match` once, no other, and a hyphen on each side of it that is not an end. */
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
