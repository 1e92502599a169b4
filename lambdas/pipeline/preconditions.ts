/**
 * `If-Match` compared with the stored revision (RFC 9110, section 13.1.1), also for handlers that do not read before
 * they write.
 */
import type { WriteOperationId } from '../../contract/operations/operations.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { etagOf } from '../http/headers.ts';
import { type Commit, type OperationRequest, type Refused, type Response, refuse } from './handler.ts';

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
 * Refuses to create or to replace a resource that is not as the request says (RFC 9110, sections 13.1.1 and 13.1.2): if there is
 * none, `If-Match` never holds.
 */
export function refusedPut(
  { ifMatch, mustCreate }: Pick<OperationRequest, 'ifMatch' | 'mustCreate'>,
  found: { readonly revision: number } | null,
): Refused | null {
  if (found === null && mustCreate) return null;
  if (found !== null && !mustCreate && (ifMatch === 'any' || ifMatch?.includes(found.revision))) return null;
  const detail = 'It has changed since you read it: read it again, and decide again.';
  return refuse('precondition-failed', detail, found === null ? {} : { headers: { etag: etagOf(found.revision) } });
}

/** The resource is already as requested. Nothing changes, but the transaction checks that it is still so. */
export function unchanged<Id extends WriteOperationId>(
  target: string,
  { partition, sort, revision }: Pick<Item<unknown>, 'partition' | 'sort' | 'revision'>,
  response: Response<Id>,
): Commit<Id> {
  const check = { kind: 'check', key: { partition, sort }, if: { kind: 'revision-is', revision } } as const;
  return { kind: 'commit', isUnchanged: true, target, changes: [check], response };
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
