/** Applies small batches of different markets in one transaction, which has the changes of all of them. */
import { type Change, MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { describeKey, MAX_TRANSACT_BYTES } from '../../storage/ports/ledger-rules.ts';
import { readMany } from '../../storage/ports/paging.ts';
import { type BatchValue, batchKey, rawPartKey } from '../../storage/records/batches.ts';
import { type MarketItems, readMarketItems } from '../markets/read-markets.ts';
import { slugsOf } from '../worker/affected-markets.ts';
import type { WorkOf } from '../worker/leases.ts';
import type { BatchDependencies, BatchRun } from './batch-changes.ts';
import { appliedAtOnce, examine, offTheQueue } from './run-batch.ts';
import { type RawRecord, recordsIn } from './stored-batch.ts';

type Work = WorkOf<'ingest'>;

/** In characters of JSON, each of which may take three bytes. The rest is for keys and overhead. */
const MAX_CHARACTERS = MAX_TRANSACT_BYTES / 4;

/** A batch with a decision, which is not committed yet. */
interface Decided {
  readonly item: Work;
  readonly changes: readonly Change[];
}

/**
 * Applies the leading batches of some lanes in one transaction.
 *
 * The transaction contains every condition of every batch. If a condition is refused, its batch is left out, with the batches
 * behind it in its lane, and the others are committed. Their decisions stay valid, because no two batches write or check the
 * same key. Each try leaves out a batch, so the loop ends.
 *
 * Some batches are left for `runBatch`, which applies them or reports why it cannot: a batch with faults, a batch that does not
 * fit, a batch on the same market as another one, a batch that storage refused. So is a batch whose outcome is unknown, because
 * a transaction was not answered or this worker died: if it has ended, `runBatch` finds its checkpoint.
 *
 * @param items the first items of each lane, in order, without gaps
 * @returns the batches that are done: the leading ones of each lane, or none of them
 */
export async function runTogether(dependencies: BatchDependencies, items: readonly Work[]): Promise<readonly Work[]> {
  const { ledger, newAttemptId } = dependencies;
  try {
    let together = await decideTogether(dependencies, items);
    while (together.length > 0) {
      const changes = together.flatMap((decided) => decided.changes);
      const result = await ledger.transact(changes, { attemptId: newAttemptId() });
      if (result.committed) return together.map(({ item }) => item);
      const refusedKeys = new Set(result.refusals.map(({ index }) => describeKey((changes[index] as Change).key)));
      together = upToFirst(together, ({ changes }) => changes.some(({ key }) => refusedKeys.has(describeKey(key))));
    }
  } catch {
    // Ignored: `runBatch` meets the same error again, and only for the batch that causes it.
  }
  return [];
}

/** The batches that one transaction can apply. Reads the markets of all of them at once. */
async function decideTogether(dependencies: BatchDependencies, items: readonly Work[]): Promise<readonly Decided[]> {
  const named = new Set<string>();
  const runs = upToFirst(await readRuns(dependencies, items), ({ slugs }) => {
    if (slugs.length === 0 || slugs.some((slug) => named.has(slug))) return true;
    for (const slug of slugs) named.add(slug);
    return false;
  });
  const markets = await readMarketItems(dependencies.ledger, named);
  const decided = await Promise.all(
    runs.map(async ({ item, run }) => ({ item, changes: run === null ? [] : await changesOf(run, markets) })),
  );
  const keys = new Set<string>();
  let characters = 0;
  return upToFirst(decided, ({ changes }) => {
    const own = changes.map(({ key }) => describeKey(key));
    characters += sizeOf(changes);
    if (own.length === 0 || own.some((key) => keys.has(key))) return true;
    if (keys.size + own.length > MAX_TRANSACT_CHANGES || characters > MAX_CHARACTERS) return true;
    for (const key of own) keys.add(key);
    return false;
  });
}

/** Empty: the batch has faults, does not fit one transaction, or cannot be decided now. */
async function changesOf(run: BatchRun, markets: MarketItems): Promise<readonly Change[]> {
  const examination = await examine(run, markets).catch(() => null);
  if (examination === null || examination.faults.length > 0) return [];
  return appliedAtOnce(run, examination)?.changes ?? [];
}

interface ReadRun {
  readonly item: Work;
  readonly run: BatchRun | null;
  /** The markets that its records name. Empty: the batch cannot be read, or applies nothing. */
  readonly slugs: readonly string[];
}

async function readRuns(dependencies: BatchDependencies, items: readonly Work[]): Promise<readonly ReadRun[]> {
  const { ledger, nowMs } = dependencies;
  const batches = items.map(({ value }) => batchKey(value.batch));
  const bodies = items.map(({ value }) => rawPartKey(value.batch, 0));
  const found = await Promise.all([readMany(ledger, batches), readMany(ledger, bodies)]);
  const startedAtMs = nowMs();
  return items.map((item, index) => {
    const [batch, body] = [found[0][index]?.value, found[1][index]?.value];
    if (batch === undefined || body === undefined || batch.rawParts > 1 || batch.dryRun) return { item, ...UNREAD };
    const records = readable(batch, body);
    const run = { ...dependencies, batch, records, atEnd: offTheQueue(batch), startedAtMs };
    return { item, run, slugs: slugsOf(records.map(({ input }) => input)) };
  });
}

const UNREAD = { run: null, slugs: [] } as const;

/** Empty if the stored body differs from the received one. */
function readable(batch: BatchValue, body: string): readonly RawRecord[] {
  try {
    return recordsIn(batch, [body]);
  } catch {
    return [];
  }
}

function sizeOf(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + (change.kind === 'put' ? JSON.stringify(change.value).length : 0), 0);
}

/** Leaves out the items that fulfil the condition, and the items behind them in their lanes. */
function upToFirst<Some extends { readonly item: Work }>(
  all: readonly Some[],
  isLeftOut: (one: Some) => boolean,
): readonly Some[] {
  const ended = new Set<string>();
  return all.filter((one) => {
    const { lane } = one.item.value;
    if (!ended.has(lane) && isLeftOut(one)) ended.add(lane);
    return !ended.has(lane);
  });
}
