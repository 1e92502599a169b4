/** `If-Match` against what is stored (RFC 9110, section 13.1.1), also by those who do not read before they write. */
import type { Item } from '../../storage/ledger.ts';
import { etagOf } from '../http/headers.ts';
import { type OperationRequest, type Refused, refuse } from './handler.ts';

/** Revisions count from 0 or 1. */
const NO_REVISION = -1;

type IfMatch = OperationRequest['ifMatch'];

/**
 * Why a resource cannot be changed: it is not there, or not of a revision that `If-Match` names. Null when it can, or when
 * nothing is known of it yet (`undefined`).
 */
export function refusedPrecondition(ifMatch: IfMatch, item: Item | null | undefined): Refused | null {
  if (item === null) return refuse('not-found', 'No such resource, or not one of yours.');
  if (item === undefined || ifMatch === null || ifMatch === 'any' || ifMatch.includes(item.revision)) return null;
  return refuse('precondition-failed', 'It has changed since you read it: read it again, and decide anew.', {
    headers: { etag: etagOf(item.revision) },
  });
}

/**
 * The revision on which to base a change: the stored one where it is known, else the one that `If-Match` names. Where it
 * names several or any, this is a guess: the transaction refuses a wrong one, and hands the right one back. One that names
 * none of ours is held against a revision that nothing ever has.
 */
export function assumedRevision(ifMatch: IfMatch, item: Item | null | undefined): number {
  if (item) return item.revision;
  return Array.isArray(ifMatch) ? (ifMatch[0] ?? NO_REVISION) : 1;
}
