/** Records of a source that the service refused. The source gives no report, and a run in a job leaves no ledger to look in. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import { RUN_FAULTS_MAX } from '../../contract/operations/sources.ts';
import { readReport } from '../../lambdas/ingest/read-report.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { UploadFiles } from '../../storage/ports/upload-store.ts';
import { uploadKey } from '../../storage/records/batches.ts';

/** A record that the service refused, with the rule and the remedy. Null: the record does not name it. */
export interface RefusedRecord {
  readonly market: string | null;
  readonly metric: string | null;
  readonly observedAt: string | null;
  readonly code: BatchReport['errors'][number]['code'];
  readonly detail: string;
}

/** The first refused records of an upload, in the order of its file, each with its first fault. */
export async function firstRefused(
  { ledger, uploads }: { readonly ledger: Ledger; readonly uploads: Pick<UploadFiles, 'read'> },
  upload: string,
): Promise<readonly RefusedRecord[]> {
  const faults = new Map<number, Pick<RefusedRecord, 'code' | 'detail'>>();
  for (const { batch } of (await ledger.get(uploadKey(upload)))?.value.refusedIn ?? []) {
    for (const { line, code, detail } of (await readReport(ledger, batch))?.errors ?? []) {
      if (line !== null && !faults.has(line)) faults.set(line, { code, detail });
    }
    if (faults.size >= RUN_FAULTS_MAX) break;
  }
  const refused: RefusedRecord[] = [];
  if (faults.size === 0) return refused;
  let line = 0;
  for await (const text of createInterface({ input: Readable.from(uploads.read(upload, 0)) })) {
    const fault = faults.get(++line);
    if (fault !== undefined) refused.push({ ...identityOf(text), ...fault });
    if (refused.length === Math.min(faults.size, RUN_FAULTS_MAX)) break;
  }
  return refused;
}

/** @param text a record that a recipe has made */
function identityOf(text: string): Pick<RefusedRecord, 'market' | 'metric' | 'observedAt'> {
  const { market, slug, metric = null, observedAt = null } = JSON.parse(text);
  return { market: market ?? slug ?? null, metric, observedAt };
}
