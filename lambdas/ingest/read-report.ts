/** The answer to `GET /api/v1/ingest/batches/{id}`. */
import { BATCH_FAILED, type BatchReport, type RowErrorCode } from '../../contract/ingest/ingest-records.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import {
  type BatchValue,
  batchKey,
  type CheckpointValue,
  checkpointKey,
  type RowTotals,
  strandsOf,
} from '../../storage/records/batches.ts';
import { type GenerationOfValue, generationOfKey } from '../../storage/records/publication.ts';
import { countsOf, NO_ROWS } from '../markets/tally.ts';
import { totalsOf } from './batch-changes.ts';
import { readFaults, type StoredFault } from './stored-faults.ts';

type Progress = RowTotals & Pick<CheckpointValue, 'state' | 'markets' | 'finishedAt'>;

const QUEUED = { state: 'queued', ...NO_ROWS, markets: [], finishedAt: null } as const;

/** The current report on a batch; null if the batch does not exist. */
export async function readReport(reader: LedgerReader, batchId: string): Promise<BatchReport | null> {
  const [batch, checkpoint, published] = await reader.getMany([
    batchKey(batchId),
    checkpointKey(batchId),
    generationOfKey(`batch/${batchId}`),
  ]);
  if (batch === null) return null;
  if (checkpoint === null) return reportOf(batch.value);
  const faults = await readFaults(reader, batchId);
  if (checkpoint.value.state !== 'applying') return reportOf(batch.value, checkpoint.value, faults, published?.value);
  const { revisions, ...totals } = totalsOf(checkpoint, await readAll(reader, strandsOf(batchId)));
  return reportOf(batch.value, { ...checkpoint.value, ...totals, markets: Object.keys(revisions).sort() }, faults);
}

/** The report on a batch. Without `progress`: a batch that no worker has begun. */
export function reportOf(
  { id, mode, partial, dryRun, mediaType, sha256, bytes, records, receivedAt }: BatchValue,
  { state, markets, finishedAt, ...totals }: Progress | typeof QUEUED = QUEUED,
  faults: readonly StoredFault[] = [],
  published: GenerationOfValue | null = null,
): BatchReport {
  const { counts, ...shown } = countsOf(totals);
  const errors = faults.map(({ index, line, pointer, code, detail }) => {
    return {
      line,
      index,
      pointer: mediaType === 'application/json' ? `/records/${index}${pointer}` : pointer,
      code,
      detail,
    };
  });
  return {
    id,
    state,
    summary: summaryOf({ state, records, counts, errors, mode }),
    mode,
    partial,
    dryRun,
    sha256,
    bytes,
    records,
    counts,
    ...shown,
    errors,
    markets: [...markets],
    receivedAt,
    finishedAt,
    generation: published?.generation ?? null,
    publishedAt: published?.publishedAt ?? null,
  };
}

/** The result of a batch and the next step, in one line for people. */
type Summarised = Pick<BatchReport, 'state' | 'records' | 'counts' | 'errors' | 'mode'>;

function summaryOf({ state, records, counts, errors, mode }: Summarised): string {
  const { accepted, unchanged, refused } = counts;
  if (errors.some(({ code }) => code === BATCH_FAILED)) {
    return `The batch could not be applied completely: ${accepted + unchanged} of ${counted(records)} ${are(accepted + unchanged)} stored. The reason is in the log of the service. Once it is removed, send the batch again.`;
  }
  const refusedOf = `${refused} of ${counted(records)}`;
  const it = refused === 1 ? 'it' : 'them';
  // A row that this credential may not send has no fault of its own.
  const isForbidden = errors.length > 0 && errors.every(({ code }) => FORBIDDEN.has(code));
  const remedy = isForbidden
    ? `send ${it} with a credential that may, see "errors"`
    : `correct ${it} by "errors" and send ${it} again`;
  switch (state) {
    case 'queued':
      return `${counted(records)} ${records === 1 ? 'waits' : 'wait'} for a worker.`;
    case 'applying':
      return `${accepted + unchanged + refused} of ${counted(records)} ${are(accepted + unchanged + refused)} done.`;
    case 'refused':
      return `Nothing is stored, because ${refusedOf} ${were(refused)} refused: ${remedy}${refused === records ? '' : ' with the others, or send the batch with "partial"'}.`;
    case 'examined':
      return `A dry run: ${counted(accepted)} would be stored, and ${unchanged} ${are(unchanged)} known already. ${refused === 0 ? 'Nothing would be refused' : `${refusedOf} would be set aside: ${remedy}`}.`;
    case 'applied':
      return `${counted(accepted)} ${are(accepted)} stored, and ${unchanged} ${were(unchanged)} known already.${refused === 0 ? '' : ` ${refusedOf} ${were(refused)} set aside: ${remedy}${mode === 'append' ? ', changed ones in a batch with "mode": "correct"' : ''}.`}`;
  }
}

const FORBIDDEN: ReadonlySet<string> = new Set<RowErrorCode>(['market.not-allowed', 'scope.missing']);

const counted = (records: number): string => `${records} ${records === 1 ? 'record' : 'records'}`;
const are = (count: number): string => (count === 1 ? 'is' : 'are');
const were = (count: number): string => (count === 1 ? 'was' : 'were');
