/** The changes of a batch's transactions besides its rows: its checkpoints, its report, and its end. Pure. */

import type { Runtime } from '../../storage/aws/runtime.ts';
import { created, put, replaced, type Versioned, written } from '../../storage/ports/changes.ts';
import { type Change, type Ledger, MAX_TRANSACT_CHANGES, type PutChange } from '../../storage/ports/ledger.ts';
import {
  type CheckpointValue,
  checkpointKey,
  type RowTotals,
  type StrandValue,
  strandKey,
} from '../../storage/records/batches.ts';
import { awaitingGenerationKey } from '../../storage/records/publication.ts';
import type { DryRunLedger } from '../markets/dry-run-ledger.ts';
import type { DecideOptions } from '../markets/examine-batch.ts';
import type { YieldToEventLoop } from '../markets/rules/check-rows.ts';
import { addTotals, NO_ROWS } from '../markets/tally.ts';
import type { Checkpoint, StoredBatch } from './stored-batch.ts';
import { COMMIT_FAULT_PARTS } from './stored-faults.ts';

export interface BatchDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId'> {
  readonly ledger: Ledger;
  /** Default: no other task has to run. */
  readonly yieldToEventLoop?: YieldToEventLoop;
  /** For a part of a dry run: the ledger with the effects of the earlier parts. */
  readonly dryRunLedger?: DryRunLedger;
}

/** Further changes in the transaction that ends a batch: at most two. */
export type ChangesAtEnd = (totals: RowTotals, revisions?: StrandValue['revisions']) => readonly Change[];

/** One worker's attempt at a batch. */
export interface BatchRun extends BatchDependencies, StoredBatch {
  readonly atEnd: ChangesAtEnd;
  readonly startedAtMs: number;
}

export type StrandItem = Versioned<StrandValue>;

const UNTOUCHED: StrandValue = { ...NO_ROWS, marketsDone: 0, rowsDone: 0, faultParts: 0, revisions: {} };

/** The checkpoint or a strand, the waiting item, the caller's changes at the end, an audit record, and faults. */
const ENTRY_CHANGES = 5 + COMMIT_FAULT_PARTS;

export function decideOptions({ batch, startedAtMs }: Pick<BatchRun, 'batch' | 'startedAtMs'>): DecideOptions {
  const recordedAt = new Date(startedAtMs).toISOString();
  return { mode: batch.mode, authority: batch.authority, recordedAt, maxChanges: MAX_TRANSACT_CHANGES - ENTRY_CHANGES };
}

export interface OpenedBatch {
  readonly checkpoint: Checkpoint;
  readonly strands: readonly StrandItem[];
  readonly changes: readonly Change[];
}

/** All strands are made at the beginning, so none can be made again after the batch has ended. */
export function openChanges(
  { batch }: BatchRun,
  setAside: number[],
  strands: number,
  faults: readonly PutChange[],
): OpenedBatch {
  const nothing = { accepted: 0, unchanged: 0, markets: [], finishedAt: null };
  const value: CheckpointValue = { state: 'applying', ...nothing, refused: setAside.length, setAside, strands };
  const checkpoint = created(checkpointKey(batch.id), value);
  const starts = Array.from({ length: strands }, (_, number) => created(strandKey(batch.id, number), UNTOUCHED));
  return {
    checkpoint: written(checkpoint),
    strands: starts.map(written),
    changes: [checkpoint, ...starts, ...faults],
  };
}

export interface BatchEnd extends RowTotals {
  readonly state: Exclude<CheckpointValue['state'], 'applying'>;
  /** The new revisions of the changed markets, by slug. */
  readonly revisions: StrandValue['revisions'];
  readonly faults: readonly PutChange[];
}

/**
 * The changes that end a batch. `strands` is empty if the batch was never opened. The conditions on checkpoint and strands come
 * first.
 */
export function endChanges(
  { batch, atEnd, startedAtMs }: BatchRun,
  checkpoint: Checkpoint | null,
  strands: readonly StrandItem[],
  { state, revisions, faults, ...totals }: BatchEnd,
): readonly Change[] {
  const finishedAt = new Date(startedAtMs).toISOString();
  const markets = Object.keys(revisions).sort();
  const { setAside = [] } = checkpoint?.value ?? {};
  const value: CheckpointValue = { state, ...totals, setAside, strands: strands.length, markets, finishedAt };
  const awaiting = awaitingGenerationKey(`batch/${batch.id}`);
  return [
    checkpoint === null ? created(checkpointKey(batch.id), value) : replaced(checkpoint, value),
    ...strands.map((strand) => replaced(strand, strand.value)),
    ...faults,
    ...(state === 'applied' ? [put(awaiting, 0, { revisions })] : []),
    ...atEnd(totals, revisions),
  ];
}

/** The totals of all strands, and of the rows that were refused before the batch was opened. */
export function totalsOf(
  checkpoint: Checkpoint | null,
  strands: readonly StrandItem[],
): RowTotals & Pick<BatchEnd, 'revisions'> {
  let totals: RowTotals = { ...NO_ROWS, refused: checkpoint?.value.refused ?? 0 };
  const revisions: StrandValue['revisions'] = {};
  for (const { value } of strands) {
    totals = addTotals(totals, value);
    Object.assign(revisions, value.revisions);
  }
  return { ...totals, revisions };
}
