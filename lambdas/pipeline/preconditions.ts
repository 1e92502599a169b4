/** `If-Match` compared with the stored revision (RFC 9110, section 13.1.1). */
import type { WriteOperationId } from '../../contract/operations/operations.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { etagOf } from '../http/headers.ts';
import { refusal } from '../http/refused-request.ts';
import type { Commit, OperationRequest, Response } from './handler.ts';

type IfMatch = OperationRequest['ifMatch'];

/** Returns the item. Refuses if the resource does not exist, or has a revision that `If-Match` does not name. */
export function checkIfMatch<Found extends Item<unknown>>(ifMatch: IfMatch, item: Found | null): Found {
  if (item === null) throw refusal('not-found', 'No such resource, or not one of yours.');
  if (ifMatch === null || ifMatch === 'any' || ifMatch.includes(item.revision)) return item;
  throw refusal('precondition-failed', mismatch(ifMatch), { headers: { etag: etagOf(item.revision) } });
}

/** The comparison is strong (RFC 9110, section 13.1.1), so a weak ETag does not match, even if nothing has changed. */
function mismatch(ifMatch: IfMatch): string {
  return ifMatch?.length === 0
    ? 'If-Match has no strong ETag of this API, and a weak one (W/"…") never matches: send the ETag of the answer, without W/.'
    : 'It has changed since you read it: read it again, and decide again.';
}

/**
 * Refuses to create, replace or delete a resource whose state differs from the request's preconditions (RFC 9110, sections
 * 13.1.1 and 13.1.2). `If-Match` fails if the resource does not exist.
 */
export function checkPrecondition(
  { ifMatch, mustCreate }: Pick<OperationRequest, 'ifMatch' | 'mustCreate'>,
  found: { readonly revision: number } | null,
): void {
  if (found === null && mustCreate) return;
  if (found !== null && !mustCreate && (ifMatch === 'any' || ifMatch?.includes(found.revision))) return;
  if (found === null) throw refusal('precondition-failed', 'It does not exist. To create it, send If-None-Match: *.');
  throw refusal('precondition-failed', mismatch(ifMatch), { headers: { etag: etagOf(found.revision) } });
}

/** The resource is already in the requested state. Nothing changes; the transaction checks that this is still so. */
export function unchanged<Id extends WriteOperationId>(
  target: string,
  { partition, sort, revision }: Pick<Item<unknown>, 'partition' | 'sort' | 'revision'>,
  response: Response<Id>,
): Commit<Id> {
  const check = { kind: 'check', key: { partition, sort }, if: { kind: 'revision-is', revision } } as const;
  return { isUnchanged: true, target, changes: [check], response };
}
