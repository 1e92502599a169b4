/** Removes the files of uploads that are long done. Their digests stay in the ledger, so a copy can still be checked. */

import type { DirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { uploadKey } from '../../storage/records/batches.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface OldUploadsDependencies {
  readonly ledger: Pick<Ledger, 'get'>;
  readonly uploads: Pick<DirectoryUploads, 'list' | 'remove'>;
  readonly nowMs: () => number;
  /** Days after the end of an upload; null keeps all files. */
  readonly keptDays: number | null;
}

/** A file whose upload has not ended is kept. */
export async function removeOldUploads({ ledger, uploads, nowMs, keptDays }: OldUploadsDependencies): Promise<void> {
  if (keptDays === null) return;
  for (const id of await uploads.list()) {
    const finishedAt = (await ledger.get(uploadKey(id)))?.value.finishedAt ?? null;
    if (finishedAt !== null && Date.parse(finishedAt) + keptDays * DAY_MS <= nowMs()) await uploads.remove(id);
  }
}
