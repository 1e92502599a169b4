/**
 * `If-Match` compared with the stored revision (RFC 9110, section 13.1.1), also for handlers that do not read before
 * they write.
 */
import type { Item } from '../../storage/ports/ledger.ts';
import { etagOf } from '../http/headers.ts';
import { type OperationRequest, type Refused, refuse } from './handler.ts';

/** Revisions start at 0 or 1. */
const NO_REVISION = -1;

type IfMatch = OperationRequest['ifMatch'];

/**
 * The item that may be changed; undefined if nothing is known of it yet. Refuses if the resource does not exist, or has
 * a revision that `If-Match` does not name.
 */
export function checkIfMatch<Found extends Item<unknown> | undefined>(
  ifMatch: IfMatch,
  item: Found | null,
): Found | Refused {
  if (item === null) return refuse('not-found', 'No such resource, or not one of yours.');
  if (item === undefined || ifMatch === null || ifMatch === 'any' || ifMatch.includes(item.revision)) return item;
  return refuse('precondition-failed', 'It has changed since you read it: read it again, and decide again.', {
    headers: { etag: etagOf(item.revision) },
  });
}

/**
 * The revision that a change starts from: the stored one if it is known, else the one that `If-Match` names. If
 * `If-Match` names several or any, this is a guess: the transaction refuses a wrong guess and hands back the right
 * revision. If it is not a revision that we issued, the result is a revision that no resource ever has.
 */
export function assumedRevision(ifMatch: IfMatch, item: Item<unknown> | undefined): number {
  if (item !== undefined) return item.revision;
  return Array.isArray(ifMatch) ? (ifMatch[0] ?? NO_REVISION) : 1;
}
