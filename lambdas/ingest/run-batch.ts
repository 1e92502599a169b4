/**
 * Applies a batch: each row exactly once, with any number of workers, and after a crash of any of them.
 *
 *     absent ──► applied                  it fits one transaction: its rows, its report, the end of its work
 *        ├─────► applying ──► applied     it does not fit: it is opened, applied in strands, and ended
 *        └─────► examined | refused       no row is applied: one transaction with the report alone
 *
 * Every transaction writes the next revision of the checkpoint or of a strand, under the condition of the revision that
 * was read. If two workers have the same part, one of them is refused, reads again, and continues from the new state. So a
 * correcting batch cannot be applied again after a later batch has ended.
 *
 * A batch that cannot be applied completely ends, too: as `refused`, or as `applied` with the part that was applied.
 */
import { inOrder } from '../../contract/values/canonical-json.ts';
import { dropped, replaced, written } from '../../storage/ports/changes.ts';
import { type Change, MAX_TRANSACT_CHANGES, type Refusal, type TransactResult } from '../../storage/ports/ledger.ts';
import { inBatches, readAll } from '../../storage/ports/paging.ts';
import { type BatchValue, checkpointKey, type StrandValue, strandsOf, workKey } from '../../storage/records/batches.ts';
import { asOneTransaction, commitMarkets, DECISIONS_AT_MOST, type Journal } from '../markets/commit-markets.ts';
import { type Examination, examineBatch, type PlannedMarket, planMarketParts } from '../markets/examine-batch.ts';
import { type MarketItems, readMarkets } from '../markets/read-markets.ts';
import { groupByMarket, type MarketRows } from '../markets/rows.ts';
import { neverYield, parseRows, type RowFault } from '../markets/rules/check-rows.ts';
import { addTotals, correctionsOf, faultsOf, NO_ROWS, tallyOf } from '../markets/tally.ts';
import { marketAudits } from '../review/audit-changes.ts';
import { Contended, contendedOn, isRetryable } from '../worker/contended.ts';
import {
  type BatchDependencies,
  type BatchEnd,
  type BatchRun,
  type ChangesAtEnd,
  decideOptions,
  endChanges,
  openChanges,
  type StrandItem,
  totalsOf,
} from './batch-changes.ts';
import { type Checkpoint, readBatch, readRecords } from './stored-batch.ts';
import { COMMIT_FAULT_PARTS, EXAMINATION, FAILED, FAILURE, FIRST_STRAND, faultChanges } from './stored-faults.ts';

/**
 * - `done`: the batch has ended, and the changes at its end are committed.
 * - `later`: the batch has ended, but the changes at its end were refused, because another worker is ahead.
 * - `overtaken`: another worker has changed the batch. Read it again.
 */
type Outcome = 'done' | 'later' | 'overtaken';

/**
 * Applies the batch to its end. Harmless if it has ended already.
 *
 * @param lane the lane of its work item, which is removed if the batch does not exist
 * @param atEnd default: removes the batch's work from the queue
 * @throws StorageUnavailable if storage fails, Contended if other writers kept changing the same items: run it again
 * @throws any other error, such as StorageCorrupt if the stored batch differs from the received one. It would happen each time,
 *   so the rest of the batch is refused.
 */
export async function runBatch(
  dependencies: BatchDependencies,
  batchId: string,
  { lane, ...options }: { readonly lane?: string; readonly atEnd?: ChangesAtEnd } = {},
): Promise<'done' | 'later'> {
  const batch = await readBatch(dependencies, batchId, lane);
  const { atEnd = offTheQueue(batch) } = options;
  const unread: BatchRun = { ...dependencies, batch, records: [], atEnd, startedAtMs: dependencies.nowMs() };
  try {
    const run = { ...unread, records: await readRecords(dependencies, batch) };
    return await untilEnded(run, (checkpoint) => (checkpoint === null ? begin(run) : resume(run, checkpoint)));
  } catch (error) {
    if (!isRetryable(error)) await untilEnded(unread, (checkpoint) => giveUp(unread, checkpoint));
    throw error;
  }
}

/** Changes that end a batch from the queue. */
export function offTheQueue({ id, subject }: BatchValue): ChangesAtEnd {
  return () => [dropped(workKey(id, subject))];
}

/**
 * Continues the batch from its current state. Each time that it is overtaken, another worker has made progress. So the loop
 * ends.
 */
async function untilEnded(
  run: BatchRun,
  step: (checkpoint: Checkpoint | null) => Promise<Outcome>,
): Promise<'done' | 'later'> {
  for (;;) {
    const checkpoint = await run.ledger.get(checkpointKey(run.batch.id));
    if (checkpoint !== null && checkpoint.value.state !== 'applying') {
      // The batch had ended before: this worker got it again.
      const { committed } = await transact(run, run.atEnd(checkpoint.value));
      return committed ? 'done' : 'later';
    }
    const outcome = await step(checkpoint);
    if (outcome !== 'overtaken') return outcome;
  }
}

/** Decides whether the whole batch is applied or refused, while the ledger has nothing of it yet. */
async function begin(run: BatchRun): Promise<Outcome> {
  const { partial, dryRun } = run.batch;
  for (let tries = 1; ; tries++) {
    const examination = await examine(run);
    if (!(await isCurrent(run, examination))) {
      if (tries < DECISIONS_AT_MOST) continue;
      throw new Contended(`batch ${run.batch.id}: its refused rows were judged on items that have changed`);
    }
    const isRefused = !partial && examination.faults.length > 0;
    if (isRefused || dryRun) {
      const outcome = await report(run, isRefused ? 'refused' : 'examined', examination);
      if (outcome === 'done') run.dryRunLedger?.add(examination.markets);
      return outcome;
    }
    const whole = appliedAtOnce(run, examination);
    if (whole === null) return await open(run, examination);
    const result = await transact(run, whole.changes);
    if (result.committed) return 'done';
    if (result.refusals.some(({ index }) => index < whole.entry)) return outcomeOf(result.refusals);
    // Other writers have changed its markets since they were read.
    if (tries === DECISIONS_AT_MOST) throw contendedOn(`batch ${run.batch.id}`, whole.changes, result.refusals);
  }
}

/** @param markets the records of its markets, if they have been read already */
export async function examine(run: BatchRun, markets?: MarketItems): Promise<Examination> {
  const inputs = run.records.map(({ input }) => input);
  return await examineBatch(run.dryRunLedger ?? run.ledger, inputs, {
    ...decideOptions(run),
    nowMs: run.startedAtMs,
    sentAtMs: Date.parse(run.batch.receivedAt),
    yieldToEventLoop: run.yieldToEventLoop,
    markets,
  });
}

/** The transaction that applies a whole batch and ends it. */
export interface AppliedAtOnce {
  readonly changes: readonly Change[];
  /** The number of leading changes that are about the batch itself. */
  readonly entry: number;
}

/** Null: it does not fit one transaction. */
export function appliedAtOnce(run: BatchRun, examination: Examination): AppliedAtOnce | null {
  const faults = faultChanges(run, EXAMINATION, examination.faults);
  const decisions = asOneTransaction(examination.markets, decideOptions(run).maxChanges);
  if (decisions === null || faults.length > COMMIT_FAULT_PARTS) return null;
  const totals = { ...tallyOf(decisions), refused: rowsOf(examination.faults).length };
  const entry = endChanges(run, null, [], { state: 'applied', ...totals, faults });
  const ofMarkets = decisions.flatMap(({ changes }) => changes);
  const changes = [...entry, ...ofMarkets, ...marketAudits(run.batch, ofMarkets, run.startedAtMs)];
  return { changes, entry: entry.length };
}

/**
 * Whether the refused rows were judged on the current ledger. An earlier batch may be committed and not yet visible. It may
 * have made such a row valid, so the checks compare what was read with the ledger.
 */
async function isCurrent(run: BatchRun, { checks }: Examination): Promise<boolean> {
  const ofLedger = checks.filter(({ key }) => run.dryRunLedger?.has(key) !== true);
  for (const some of inBatches(ofLedger, MAX_TRANSACT_CHANGES)) {
    if (!(await transact(run, some)).committed) return false;
  }
  return true;
}

async function report(
  run: BatchRun,
  state: 'examined' | 'refused',
  { faults, markets }: Examination,
): Promise<Outcome> {
  const decisions = markets.flatMap(({ parts }) => parts);
  const tally = tallyOf(decisions);
  const { unchanged, retracted, corrected } = tally;
  // A refused batch applies none of its rows, not even valid ones. The count of unchanged rows stays.
  const taken =
    state === 'refused'
      ? { ...NO_ROWS, unchanged, ...(retracted !== undefined && { retracted }), revisions: {} }
      : { ...tally, ...(corrected !== undefined && { corrections: correctionsOf(decisions) }) };
  const totals = { ...taken, refused: rowsOf(faults).length };
  return await end(run, null, [], { state, ...totals, faults: faultChanges(run, EXAMINATION, faults) });
}

/** After this commit, every worker refuses the same rows, and gives each strand the same markets. */
async function open(run: BatchRun, { faults, markets }: Examination): Promise<Outcome> {
  const shares = shard(markets, strandsFor(markets));
  const { checkpoint, strands, changes } = openChanges(
    run,
    rowsOf(faults),
    shares.length,
    faultChanges(run, EXAMINATION, faults),
  );
  if (!(await transact(run, changes)).committed) return 'overtaken';
  return await workOff(run, checkpoint, strands, shares);
}

async function resume(run: BatchRun, checkpoint: Checkpoint): Promise<Outcome> {
  const strands = await readStrands(run, checkpoint);
  const aside = new Set(checkpoint.value.setAside);
  const inputs = run.records.map(({ input }) => input);
  const { rows } = await parseRows(inputs, run.yieldToEventLoop ?? neverYield);
  const shares = shard(groupByMarket(rows.filter(({ index }) => !aside.has(index))), strands.length);
  const plans = strands.map(async (strand, number) => {
    const states = await readMarkets(run.ledger, leftOf(shares[number] ?? [], strand));
    return states.map((state) => planMarketParts(state, decideOptions(run)));
  });
  return await workOff(run, checkpoint, strands, await Promise.all(plans));
}

/** The strands share no item, so none conflicts with another. Waits until each strand has stopped. */
async function workOff(
  run: BatchRun,
  checkpoint: Checkpoint,
  strands: readonly StrandItem[],
  shares: readonly (readonly PlannedMarket[])[],
): Promise<Outcome> {
  const running = strands.map((strand, number) => runStrand(run, strand, number, shares[number] ?? []));
  const done: StrandItem[] = [];
  for (const outcome of await Promise.allSettled(running)) {
    if (outcome.status === 'rejected') throw outcome.reason;
    if (outcome.value === 'overtaken') return 'overtaken';
    done.push(outcome.value);
  }
  return await end(run, checkpoint, done, { state: 'applied', ...totalsOf(checkpoint, done), faults: [] });
}

/** Ends the batch in its current state. Observations that were already stored stay, and are published. */
async function giveUp(run: BatchRun, checkpoint: Checkpoint | null): Promise<Outcome> {
  const strands = checkpoint === null ? [] : await readStrands(run, checkpoint);
  const totals = totalsOf(checkpoint, strands);
  const refused = run.batch.records - totals.accepted - totals.unchanged;
  const state = totals.accepted > 0 ? 'applied' : 'refused';
  return await end(run, checkpoint, strands, {
    ...totals,
    state,
    refused,
    faults: faultChanges(run, FAILURE, [FAILED]),
  });
}

/** @throws Contended while the transaction that opened the batch is only partly visible */
async function readStrands({ ledger, batch }: BatchRun, checkpoint: Checkpoint): Promise<readonly StrandItem[]> {
  const strands = await readAll(ledger, strandsOf(batch.id));
  if (strands.length === checkpoint.value.strands) return strands;
  throw new Contended(`batch ${batch.id} shows ${strands.length} of its ${checkpoint.value.strands} strands`);
}

async function end(
  run: BatchRun,
  checkpoint: Checkpoint | null,
  strands: readonly StrandItem[],
  batchEnd: BatchEnd,
): Promise<Outcome> {
  const result = await transact(run, endChanges(run, checkpoint, strands, batchEnd));
  return result.committed ? 'done' : outcomeOf(result.refusals, strands.length);
}

/**
 * The checkpoint is the first change, and then come the strands. If one of these is refused, another worker has
 * overtaken this one.
 */
function outcomeOf(refusals: readonly Refusal[], strands = 0): Outcome {
  return refusals.some(({ index }) => index <= strands) ? 'overtaken' : 'later';
}

function rowsOf(faults: readonly RowFault[]): number[] {
  return [...new Set(faults.map(({ index }) => index))];
}

async function transact({ ledger, newAttemptId }: BatchRun, changes: readonly Change[]): Promise<TransactResult> {
  return await ledger.transact(changes, { attemptId: newAttemptId() });
}

const STRANDS_AT_MOST = 16;

/** Markets differ in size, so some space stays free. Then each strand of a usual batch fits one transaction. */
const CHANGES_OF_STRAND = 0.75 * MAX_TRANSACT_CHANGES;

/** The number of strands for these markets. */
function strandsFor(markets: readonly PlannedMarket[]): number {
  // Each part has an audit record.
  const changes = markets.flatMap(({ parts }) => parts).reduce((sum, part) => sum + part.changes.length + 1, 0);
  return Math.min(Math.ceil(changes / CHANGES_OF_STRAND), markets.length, STRANDS_AT_MOST);
}

/** Distributes markets in order, one at a time, so that the same markets always give the same strands. */
function shard<Market>(markets: readonly Market[], strands: number): Market[][] {
  const shares: Market[][] = Array.from({ length: strands }, () => []);
  for (const [index, market] of markets.entries()) shares[index % strands]?.push(market);
  return shares;
}

/** The unfinished markets of a strand; the first of them without its finished rows. */
function leftOf(share: readonly MarketRows[], { value: { marketsDone, rowsDone } }: StrandItem): readonly MarketRows[] {
  const [first, ...others] = share.slice(marketsDone);
  return first === undefined ? [] : [{ ...first, rows: first.rows.slice(rowsDone) }, ...others];
}

/**
 * Applies the rest of a strand; returns its new state. Each transaction writes its next revision.
 *
 * @throws as commitMarkets does
 */
async function runStrand(
  run: BatchRun,
  strand: StrandItem,
  number: number,
  markets: readonly PlannedMarket[],
): Promise<StrandItem | 'overtaken'> {
  let current = strand;
  const journal: Journal = ({ decisions, position }) => {
    const before = current.value;
    const { revisions, ...totals } = tallyOf(decisions);
    const faults = faultChanges(run, FIRST_STRAND + number, decisions.flatMap(faultsOf), before.faultParts);
    const value: StrandValue = {
      ...position,
      ...addTotals(before, totals),
      faultParts: before.faultParts + faults.length,
      revisions: { ...before.revisions, ...revisions },
    };
    const moved = replaced(current, inOrder(value));
    const committed = () => {
      current = written(moved);
    };
    const audits = marketAudits(
      run.batch,
      decisions.flatMap(({ changes }) => changes),
      run.startedAtMs,
    );
    return { changes: [moved, ...faults, ...audits], committed };
  };
  const outcome = await commitMarkets(run, markets, { ...decideOptions(run), from: strand.value }, journal);
  return outcome === 'done' ? current : outcome;
}
