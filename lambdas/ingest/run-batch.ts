/**
 * Applies a batch of the write API: each part of it exactly once, however many workers do so and wherever they die.
 *
 * The batch's checkpoint makes it so. Every transaction of the batch moves it, under the condition that its revision is the
 * one that was read, and the transaction's rows begin where the checkpoint says. A worker that has died is followed by one
 * that goes on from there; of two workers at once, one loses each transaction, reads the checkpoint again and goes on too.
 * So nothing is done twice, and a batch that corrects cannot come back after a later one.
 *
 *     absent ──► applying ──► applied   rows are taken in
 *        └──► examined | refused        one transaction, nothing but the report
 *
 * What cannot be applied, now or ever, ends too: `refused`, or `applied` as far as it went.
 */
import { BATCH_FAILED } from '../../contract/ingest-records.ts';
import { type Change, MAX_TRANSACT_CHANGES, type PutChange } from '../../storage/ledger.ts';
import { type BatchValue, type CheckpointValue, checkpointKey, workKey } from '../../storage/records/batches.ts';
import { awaitingGenerationKey } from '../../storage/records/publication.ts';
import { parseRows, type RowFault } from '../markets/check-rows.ts';
import {
  commitMarkets,
  type Journal,
  type JournalEntry,
  mayPass,
  type Part,
  START,
} from '../markets/commit-markets.ts';
import { type DecideOptions, type Examination, examineBatch, planMarketParts } from '../markets/examine-batch.ts';
import { groupByMarket, readMarkets } from '../markets/read-markets.ts';
import { faultsOf, tallyOf } from '../markets/tally.ts';
import type { IngestDependencies } from './apply-batch.ts';
import { type Checkpoint, type RawRecord, readBatch, readCheckpoint, readRecords } from './stored-batch.ts';
import { COMMIT_FAULT_PARTS, faultChanges } from './stored-faults.ts';

/**
 * Applies the batch to its end, and takes its work off the queue. Harmless when it is done already.
 *
 * @throws StorageUnavailable when storage fails, Contended when others are in the way: run it again.
 * @throws whatever else goes wrong, StorageCorrupt when the batch is not what came: it would do so each time, so what is
 *   left of the batch is refused and its work is off the queue.
 */
export async function runBatch(dependencies: IngestDependencies, batchId: string): Promise<'done'> {
  const batch = await readBatch(dependencies.ledger, batchId);
  try {
    let records: readonly RawRecord[] | undefined;
    return await untilDone(dependencies, batchId, async (checkpoint) => {
      records ??= await readRecords(dependencies.ledger, batch);
      return await new Run(dependencies, batch, records, checkpoint).advance();
    });
  } catch (error) {
    if (!mayPass(error)) {
      await untilDone(dependencies, batchId, (checkpoint) => new Run(dependencies, batch, [], checkpoint).fail());
    }
    throw error;
  }
}

/** Goes on from where the batch stands. Whoever was overtaken was so by progress, of which there is only so much. */
async function untilDone(
  dependencies: IngestDependencies,
  batchId: string,
  step: (checkpoint: Checkpoint | null) => Promise<'done' | 'overtaken'>,
): Promise<'done'> {
  for (;;) {
    const checkpoint = await readCheckpoint(dependencies.ledger, batchId);
    if (checkpoint !== null && checkpoint.value.state !== 'applying') {
      // Delivered once more.
      await transact(dependencies, [workDone(batchId)]);
      return 'done';
    }
    if ((await step(checkpoint)) === 'done') return 'done';
  }
}

/** What an entry takes: the checkpoint, what deletes the work, what awaits the generation, and faults. */
const ENTRY_CHANGES = 3 + COMMIT_FAULT_PARTS;

/** Says nothing of what went wrong: that is for the operator. */
const FAILURE = {
  index: 0,
  pointer: '',
  code: BATCH_FAILED,
  detail:
    'the batch could not be applied, or not all of it: see how many records were accepted. The operator is told; send what ' +
    'is missing in smaller batches',
} as const;

const NOTHING_DONE: CheckpointValue = {
  state: 'applying',
  setAside: [],
  ...START,
  accepted: 0,
  unchanged: 0,
  refused: 0,
  faultParts: 0,
  markets: [],
  finishedAt: null,
};

class Run implements Journal {
  readonly #dependencies: IngestDependencies;
  readonly #batch: BatchValue;
  readonly #records: readonly RawRecord[];
  readonly #nowMs: number;
  readonly #options: DecideOptions;
  /** Null until there is one. */
  #checkpoint: Checkpoint | null;

  constructor(
    dependencies: IngestDependencies,
    batch: BatchValue,
    records: readonly RawRecord[],
    checkpoint: Checkpoint | null,
  ) {
    this.#dependencies = dependencies;
    this.#batch = batch;
    this.#records = records;
    this.#nowMs = dependencies.nowMs();
    const maxChanges = MAX_TRANSACT_CHANGES - ENTRY_CHANGES;
    this.#options = { mode: batch.mode, recordedAt: this.#now(), maxChanges };
    this.#checkpoint = checkpoint;
  }

  async advance(): Promise<'done' | 'overtaken'> {
    return this.#checkpoint === null ? await this.#begin() : await this.#resume(this.#checkpoint.value);
  }

  /** All or nothing is decided here, once: on the ledger as it is before the first part. */
  async #begin(): Promise<'done' | 'overtaken'> {
    const { partial, dryRun } = this.#batch;
    const inputs = this.#records.map(({ input }) => input);
    const options = { ...this.#options, nowMs: this.#nowMs };
    const examination = await examineBatch(this.#dependencies.ledger, inputs, options);
    const refused = !partial && examination.faults.length > 0;
    if (refused || dryRun) return await this.#reportOnly(examination, refused ? 'refused' : 'examined');
    const { faults, markets } = examination;
    if (faults.length > 0) {
      const setAside = [...new Set(faults.map(({ index }) => index))];
      const opened = { ...NOTHING_DONE, setAside, refused: setAside.length };
      const moved = this.#moved(opened, faults);
      if (!(await transact(this.#dependencies, moved))) return 'overtaken';
      this.#remember(moved);
    }
    return await commitMarkets(this.#dependencies, markets, { ...this.#options, from: START }, this);
  }

  async #reportOnly(
    { faults, markets: planned }: Examination,
    state: 'examined' | 'refused',
  ): Promise<'done' | 'overtaken'> {
    // Of a refused batch nothing comes, whatever would have come of its other rows.
    const tally = tallyOf(state === 'refused' ? [] : planned.flatMap(({ parts }) => parts));
    const refused = new Set(faults.map(({ index }) => index)).size;
    const finishedAt = this.#now();
    const value = { ...NOTHING_DONE, state, ...tally, refused, markets: [...tally.markets], finishedAt };
    const changes = [...this.#moved(value, faults), workDone(this.#batch.id)];
    return (await transact(this.#dependencies, changes)) ? 'done' : 'overtaken';
  }

  /** The rows that are left are the same whoever reads them, since those set aside are on record. */
  async #resume({ setAside, marketsDone, rowsDone }: CheckpointValue): Promise<'done' | 'overtaken'> {
    const aside = new Set(setAside);
    const { rows } = parseRows(this.#records.map(({ input }) => input));
    const groups = groupByMarket(rows.filter(({ index }) => !aside.has(index))).slice(marketsDone);
    const [first, ...others] = groups;
    const left = first === undefined ? [] : [{ ...first, rows: first.rows.slice(rowsDone) }, ...others];
    const states = await readMarkets(this.#dependencies.ledger, left);
    return await commitMarkets(
      this.#dependencies,
      states.map((state) => planMarketParts(state, this.#options)),
      { ...this.#options, from: { marketsDone, rowsDone } },
      this,
    );
  }

  /** Ends the batch where it stands. What was taken in stays, and is due for publication. */
  async fail(): Promise<'done' | 'overtaken'> {
    const before = this.#checkpoint?.value ?? NOTHING_DONE;
    const refused = this.#batch.records - before.accepted - before.unchanged;
    const isTakenIn = before.accepted > 0;
    const state = isTakenIn ? 'applied' : 'refused';
    const changes = [
      ...this.#moved({ ...before, state, refused, finishedAt: this.#now() }, [FAILURE]),
      workDone(this.#batch.id),
      ...(isTakenIn ? [this.#awaiting()] : []),
    ];
    return (await transact(this.#dependencies, changes)) ? 'done' : 'overtaken';
  }

  entryOf({ decisions, position, isLast }: Part): JournalEntry {
    const before = this.#checkpoint?.value ?? NOTHING_DONE;
    const { accepted, unchanged, markets } = tallyOf(decisions);
    const faults = decisions.flatMap(faultsOf);
    const value: CheckpointValue = {
      ...before,
      ...position,
      accepted: before.accepted + accepted,
      unchanged: before.unchanged + unchanged,
      refused: before.refused + faults.length,
      // A market with many rows is in several parts.
      markets: [...new Set([...before.markets, ...markets])],
      ...(isLast ? { state: 'applied', finishedAt: this.#now() } : {}),
    };
    const moved = this.#moved(value, faults);
    const changes = isLast ? [...moved, workDone(this.#batch.id), this.#awaiting()] : moved;
    return { changes, committed: () => this.#remember(moved) };
  }

  /** The checkpoint, first of all, and the faults that have come up. */
  #moved(value: CheckpointValue, faults: readonly (RowFault | typeof FAILURE)[]): readonly PutChange[] {
    const stored = faultChanges(
      this.#batch.id,
      value.faultParts,
      faults,
      (index) => this.#records[index]?.line ?? null,
    );
    const before = this.#checkpoint;
    return [
      {
        kind: 'put',
        key: checkpointKey(this.#batch.id),
        revision: before === null ? 0 : before.revision + 1,
        value: { ...value, faultParts: value.faultParts + stored.length },
        if: before === null ? { kind: 'absent' } : { kind: 'revision-is', revision: before.revision },
      },
      ...stored,
    ];
  }

  #remember([checkpoint]: readonly PutChange[]): void {
    if (checkpoint === undefined) return;
    this.#checkpoint = { revision: checkpoint.revision, value: checkpoint.value as CheckpointValue };
  }

  #awaiting(): Change {
    const key = awaitingGenerationKey(`batch/${this.#batch.id}`);
    return { kind: 'put', key, revision: 0, value: null, if: { kind: 'any' } };
  }

  #now(): string {
    return new Date(this.#nowMs).toISOString();
  }
}

function workDone(batchId: string): Change {
  return { kind: 'delete', key: workKey(batchId), if: { kind: 'any' } };
}

async function transact({ ledger, newAttemptId }: IngestDependencies, changes: readonly Change[]): Promise<boolean> {
  return (await ledger.transact(changes, { attemptId: newAttemptId() })).committed;
}
