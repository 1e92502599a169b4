/** The statement for a query. */
import type { SQLInputValue } from 'node:sqlite';
import type { QueryOptions } from '../ports/ledger.ts';
import { byBytes } from '../ports/ledger-rules.ts';

/** The columns of an item, besides its key. */
export const COLUMNS = 'revision, attempt_id, expires_at_ms, value';

/**
 * One index range for each query. For one direction, the page's start and the prefix bound the same side. Only the tighter
 * bound is used: with two, SQLite would use one of them and filter by the other, row by row.
 */
export function querySql(partition: string, options: QueryOptions): { text: string; parameters: SQLInputValue[] } {
  const { prefix = '', after, descending = false, limit } = options;
  const conditions = ['partition = ?'];
  const parameters: SQLInputValue[] = [partition];
  const bound = (operator: string, sort: string) => {
    conditions.push(`sort ${operator} ?`);
    parameters.push(sort);
  };
  const end = endOfPrefix(prefix);
  const startsAfter = after !== undefined && !descending && byBytes(after, prefix) >= 0;
  const endsBefore = after !== undefined && descending && (end === null || byBytes(after, end) < 0);
  if (startsAfter) bound('>', after);
  else if (prefix !== '') bound('>=', prefix);
  if (endsBefore) bound('<', after);
  else if (end !== null) bound('<', end);
  // One row more than the caller wants shows whether more follow.
  parameters.push(limit + 1);
  const order = descending ? 'DESC' : 'ASC';
  return {
    text: `SELECT sort, ${COLUMNS} FROM items WHERE ${conditions.join(' AND ')} ORDER BY sort ${order} LIMIT ?`,
    parameters,
  };
}

/** The first text after every text that begins with this prefix, in order of UTF-8 bytes; null if no such text exists. */
function endOfPrefix(prefix: string): string | null {
  // UTF-8 sorts by code points, so incrementing the last code point gives the next text.
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === 0x10ffff) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // The surrogates, 0xd800 to 0xdfff, are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}
