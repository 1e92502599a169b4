/** Pages of a listing, newest first, with cursors that only the same credential can use for the same listing. */

import type { ReadOperationId } from '../../contract/operations/operations.ts';
import { LISTING_PAGE_SIZE } from '../../contract/operations/resources.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { type AnyRange, type PagingOptions, readPage } from '../../storage/ports/paging.ts';
import { refusal } from '../http/refused-request.ts';
import type { OperationRequest, ReadTools } from './handler.ts';

const HOUR_MS = 60 * 60 * 1000;

/** A walk with a longer pause must start again. */
const CURSOR_LIFETIME_MS = 24 * HOUR_MS;

export interface Listing<Stored, Value> {
  readonly range: AnyRange<Stored>;
  /** Lists from the beginning. Default: from the end, newest first. */
  readonly isAscending?: boolean;
  /** Returns the values of a page's items, in order. May leave some out. */
  readonly valuesOf: (items: readonly Item<Stored>[]) => Promise<readonly Value[]> | readonly Value[];
}

export interface ListingPage<Value> {
  readonly body: { data: Value[]; page: { nextCursor: string | null } };
}

/** Lists a range page by page. Refuses a cursor of another listing, or of another path or query. */
export async function paginate<Stored, Value>(
  request: OperationRequest<ReadOperationId>,
  { reader, cursors }: ReadTools,
  { range, isAscending = false, valuesOf }: Listing<Stored, Value>,
): Promise<ListingPage<Value>> {
  const given = { ...(request.params ?? {}), ...(request.query ?? {}) };
  const { cursor, ...filter } = given as Readonly<Record<string, string | undefined>>;
  const binding = { actor: request.principal.actor, operation: request.operation, filter };
  const opened = cursor === undefined ? null : cursors.open(cursor, { ...binding, nowMs: request.nowMs });
  if (opened === 'expired') {
    throw refusal('not-found', 'This cursor has expired: start again from the first page, without a cursor.');
  }
  if (typeof opened === 'string') {
    throw refusal(
      'invalid-cursor',
      'Pass "cursor" exactly as "nextCursor" of the previous page gives it, with the same credential and filter.',
    );
  }
  const options: PagingOptions = { descending: !isAscending, ...(opened === null ? {} : { after: opened.after }) };
  const page = await readPage(reader, range, { ...options, limit: LISTING_PAGE_SIZE });
  // Rounded up to an hour, so that the same page has the same bytes and ETag during that hour.
  const expiresAtMs = Math.ceil((request.nowMs + CURSOR_LIFETIME_MS) / HOUR_MS) * HOUR_MS;
  const nextCursor = page.next === null ? null : cursors.sign({ ...binding, after: page.next, expiresAtMs });
  return { body: { data: [...(await valuesOf(page.items))], page: { nextCursor } } };
}
