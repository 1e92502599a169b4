/** Work for several workers, queued on a modelled ledger and worked off. */
import { createHash } from 'node:crypto';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import { createUploadRunner } from '../../lambdas/ingest/run-upload.ts';
import { newBatch } from '../../lambdas/ingest/stored-batch.ts';
import { newUpload } from '../../lambdas/ingest/uploads.ts';
import { affectedMarkets } from '../../lambdas/worker/affected-markets.ts';
import { runWork } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import { type Runtime, systemRuntime } from '../../storage/aws/runtime.ts';
import { created } from '../../storage/ports/changes.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { type UploadValue, uploadKey, WORK_QUEUE, type WorkValue, workKey } from '../../storage/records/batches.ts';
import { NOW_MS } from '../../tools/bench/synthetic-ledger.ts';
import { type ModelledLedger, ModelledTime, openModelledLedger } from './modelled-ledger.ts';

type Rows = readonly IngestRecordInput[];

export interface WorkLoad {
  readonly name: string;
  /** The definitions of the markets that the rows are about. */
  readonly markets: Rows;
  readonly batches?: readonly { readonly subject: string; readonly records: Rows }[];
  readonly uploads?: readonly Rows[];
}

export interface WorkedOff {
  readonly rows: number;
  /** Of modelled time, until the last item of the queue was done. */
  readonly seconds: number;
  /** Calls of the ledger that the work took. */
  readonly counts: ModelledLedger['counts'];
}

/** Works a load off, with workers that begin at the same time. Rejects where anything fails or is left over. */
export async function workOff(
  { markets, batches = [], uploads = [] }: WorkLoad,
  workers: number,
  seed = workers,
): Promise<WorkedOff> {
  const time = new ModelledTime(seed);
  const ledger = openModelledLedger(time);
  let ids = 0;
  const newId = (prefix: string) => `${prefix}_${String(++ids).padStart(26, '0')}`;
  const { pause, random } = time;
  const clock = { nowMs: () => NOW_MS + time.nowMs(), pause, random };
  const runtime: Runtime = { ...systemRuntime, ...clock, newId, newAttemptId: () => newId('attempt') };
  const dependencies = { ...runtime, ledger };
  const files = new Map<string, Uint8Array>();
  const commit = (changes: readonly Change[]) => ledger.transact(changes, { attemptId: newId('queue') });

  const definitions = { id: newId('bat'), subject: 'operator', mode: 'append', partial: false, dryRun: false } as const;
  await time.pass(ingestBatch(dependencies, definitions, markets));
  for (const { subject, records } of batches) await time.pass(commit(queuedBatch(newId('bat'), subject, records)));
  for (const records of uploads) await time.pass(commit(queuedUpload(newId('upl'), records, files)));

  const startedAtMs = time.nowMs();
  Object.assign(ledger.counts, { reads: 0, transactions: 0, conflicts: 0 });
  let doneAtMs = startedAtMs;
  const running = Array.from({ length: workers }, async (_, worker) => {
    const runUpload = createUploadRunner({ ...dependencies, uploads: uploadsIn(files) });
    await runWork({
      ...dependencies,
      owner: `worker-${worker}`,
      runners: createRunners(dependencies, runUpload),
      failed: (_item, error) => {
        throw error;
      },
      afterStep: async () => {
        doneAtMs = time.nowMs();
      },
    });
  });
  await time.pass(Promise.all(running));
  const counts = { ...ledger.counts };
  const seconds = (doneAtMs - startedAtMs) / 1000;
  await time.pass(readAll(ledger, WORK_QUEUE).then((left) => assertNone(left)));
  const rows = [...batches.map(({ records }) => records), ...uploads].reduce((sum, { length }) => sum + length, 0);
  return { rows, seconds, counts };
}

function assertNone(left: readonly unknown[]): void {
  if (left.length > 0) throw new Error(`${left.length} items of work were left over`);
}

function textOf(records: Rows): Uint8Array {
  return Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

/** Queued as the request's handler does it. */
function queuedBatch(id: string, subject: string, records: Rows): readonly Change[] {
  const options = { mode: 'append', partial: false, dryRun: false, mediaType: 'application/x-ndjson' } as const;
  const described = { id, subject, ...options, records: records.length, receivedAt: new Date(NOW_MS).toISOString() };
  const work: WorkValue = { kind: 'ingest', batch: id, lane: subject, lease: null, ...affectedMarkets(records) };
  return [...newBatch(described, textOf(records)).changes, created(workKey(id, subject), work)];
}

/** An upload whose file has arrived. */
function queuedUpload(id: string, records: Rows, files: Map<string, Uint8Array>): readonly Change[] {
  const content = textOf(records);
  files.set(id, content);
  const announced = newUpload({
    id,
    subject: 'operator',
    mode: 'append',
    sha256: createHash('sha256').update(content).digest('hex'),
    bytes: content.length,
    records: records.length,
    createdAt: new Date(NOW_MS).toISOString(),
  });
  const upload: UploadValue = { ...announced, state: 'queued' };
  const work: WorkValue = { kind: 'upload', upload: id, lane: id, lease: null };
  return [created(uploadKey(id), upload), created(workKey(id), work)];
}

function uploadsIn(files: ReadonlyMap<string, Uint8Array>) {
  return {
    head: async (id: string) => ({ bytes: files.get(id)?.length ?? 0 }),
    markEnded: async () => undefined,
    async *read(id: string, fromByte: number) {
      yield (files.get(id) ?? new Uint8Array()).subarray(fromByte);
    },
  };
}
