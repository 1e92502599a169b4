/**
 * Whether the sender of an upload may still write. An upload takes hours, and its targets work without the sender's credential.
 * So the credential is checked again before the file is received, after it was received, and before each part.
 */

import type { Runtime } from '../../storage/aws/runtime.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { queryPages } from '../../storage/ports/paging.ts';
import { apiKeyKey, ERASURES, endOfKey } from '../../storage/records/accounts.ts';
import { type UploadValue, uploadKey } from '../../storage/records/batches.ts';

export interface SenderDependencies extends Pick<Runtime, 'nowMs'> {
  readonly ledger: LedgerReader;
}

const KEY = 'key:';
const USER = 'user:';

/**
 * Whether the key that announced the upload was revoked or has expired, or its user was erased meanwhile. The erasure of an
 * account revokes its keys. A key's record is never deleted.
 */
export async function senderHasEnded(
  { ledger, nowMs }: SenderDependencies,
  { actor, subject, createdAt }: Pick<UploadValue, 'actor' | 'subject' | 'createdAt'>,
): Promise<boolean> {
  if (actor?.startsWith(KEY)) {
    const key = (await ledger.get(apiKeyKey(actor.slice(KEY.length))))?.value;
    return key !== undefined && endOfKey(key, nowMs()) !== null;
  }
  if (!subject.startsWith(USER)) return false;
  // There are so few erasures that a list by subject is not needed.
  for await (const items of queryPages(ledger, ERASURES)) {
    if (items.some(({ value }) => value.subject === subject && value.requestedAt >= createdAt)) return true;
  }
  return false;
}

/** Whether a file may be received for this upload. A file that has already arrived may be sent again, without effect. */
export async function mayReceive(dependencies: SenderDependencies, id: string): Promise<boolean> {
  const upload = (await dependencies.ledger.get(uploadKey(id)))?.value;
  if (upload === undefined || upload.state === 'stopped') return false;
  return upload.state !== 'awaiting-content' || !(await senderHasEnded(dependencies, upload));
}
