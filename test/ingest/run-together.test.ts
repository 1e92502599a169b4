/** Small batches in one transaction: afterwards the ledger is as if each had had its own. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import { runBatch } from '../../lambdas/ingest/run-batch.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Item, Ledger } from '../../storage/ports/ledger.ts';
import { rawPartKey, workIdOf } from '../../storage/records/batches.ts';
import { market, price, START_MS } from '../publisher/world.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { putItem } from '../storage/put-item.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { type Commit, type Fate, type Method, type WatchedLedger, watchLedger } from '../write-api/watched-ledger.ts';
import { queueBatch, queuedWork } from './queued-batch.ts';
import { workOff } from './work-off.ts';

const SLUGS = ['a', 'b', 'c', 'd', 'e', 'f'];

interface Sent {
  readonly sender: string;
  readonly records: readonly unknown[];
  readonly mode: 'append' | 'correct';
  readonly partial: boolean;
}

let attempts = 0;
const clock = { nowMs: () => START_MS, newAttemptId: () => `attempt-${++attempts}` };

/** The batches are on the queue, and their ids are in order. */
async function ledgerWith(
  batches: readonly Sent[],
  fateOf: (method: Method) => Fate = () => 'answered',
): Promise<WatchedLedger> {
  let isReady = false;
  const ledger = watchLedger(openMemoryLedger(), { fateOf: (method) => (isReady ? fateOf(method) : 'answered') });
  const options = { id: 'bat_0', subject: 'operator', mode: 'append', partial: false, dryRun: false } as const;
  await ingestBatch(
    { ...clock, ledger },
    options,
    SLUGS.map((slug) => market(slug)),
  );
  for (const [index, { sender, records, ...sent }] of batches.entries())
    await queueBatch(ledger, idOf(index), records, { subject: sender, ...sent });
  isReady = true;
  return ledger;
}

const idOf = (index: number) => `bat_${String(index + 1).padStart(3, '0')}`;
const batchesIn = ({ changes }: Pick<Commit, 'changes'>) =>
  changes.filter(({ key }) => key.sort === 'checkpoint').map(({ key }) => key.partition.slice('batch/'.length));
const appends = (...prices: IngestRecordInput[]): Sent[] =>
  prices.map((row) => ({ sender: 'feed', records: [row], mode: 'append', partial: false }));

/** Without the ids of attempts: which attempt wrote an item is the only difference. */
async function itemsOf(ledger: WatchedLedger): Promise<ReadonlyMap<string, Omit<Item, 'attemptId'>>> {
  const all = [...(await ledger.everything())].map(([key, { attemptId: _, ...item }]) => [key, item] as const);
  return new Map(all.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** The ledger after the same batches, each alone, in this order. */
async function singly(batches: readonly Sent[], order: readonly string[]): Promise<WatchedLedger> {
  const ledger = await ledgerWith(batches);
  for (const id of order) await runBatch({ ...clock, ledger }, id);
  return ledger;
}

const row = fc.record({
  slug: fc.constantFrom(...SLUGS),
  day: fc.integer({ min: 0, max: 3 }),
  amount: fc.constantFrom(100, 101, 900_000),
  kind: fc.constantFrom('price', 'price', 'price', 'retraction', 'no record', 'unknown market'),
});
const anyBatch = fc.record({
  sender: fc.constantFrom('alice', 'bob', 'carol', 'feed'),
  records: fc.array(row, { minLength: 1, maxLength: 2 }).map((rows) => rows.map(recordOf)),
  mode: fc.constantFrom('append' as const, 'correct' as const),
  partial: fc.boolean(),
});
/** Whether a row is refused is judged before the report is committed, and is not serialisable. */
const neverRefused = fc.record({
  sender: fc.constantFrom('alice', 'bob', 'carol', 'feed'),
  records: row.map(({ slug, day, amount }) => [price(slug, day, amount)]),
  mode: fc.constant('correct' as const),
  partial: fc.boolean(),
});
const fates = fc.array(fc.constantFrom<Fate>(...Array(40).fill('answered'), 'lost-request', 'lost-answer'), {
  minLength: 30,
  maxLength: 60,
});

test.each([
  { what: 'any batches', workers: 1, transactionsAtOnce: 1, batch: anyBatch },
  { what: 'batches of two busy workers', workers: 2, transactionsAtOnce: 4, batch: neverRefused },
])(
  '$what leave what single ones in the same order leave, whatever fails, and each lane is in order',
  async ({ batch, workers, transactionsAtOnce }) => {
    const numRuns = 20;
    let together = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 24 }), fates, async (batches: Sent[], fate) => {
        let calls = 0;
        let isEnded = false;
        const ledger = await ledgerWith(batches, () => (isEnded ? 'answered' : (fate[calls++] ?? 'answered')));
        const work = async (_: unknown, worker = 0) => {
          for (;;) {
            try {
              return await workOff({ ...clock, ledger, transactionsAtOnce, owner: `worker-${worker}` });
            } catch (error) {
              if (!(error instanceof StorageUnavailable)) throw error;
            }
          }
        };
        await Promise.all(Array.from({ length: workers }, work));
        isEnded = true;
        expect(await queuedWork(ledger)).toEqual([]);
        const groups = ledger.commits.map(batchesIn).filter(({ length }) => length > 0);
        together += groups.filter(({ length }) => length > 1).length;
        const order = groups.flat().slice(1);
        expect(order.toSorted()).toEqual(batches.map((_, index) => idOf(index)));
        for (const [sender, sent] of Map.groupBy(batches.keys(), (index) => batches[index]?.sender)) {
          const ids = sent.map(idOf);
          expect(
            order.filter((id) => ids.includes(id)),
            `the lane of ${sender}`,
          ).toEqual(ids);
        }
        expect(await itemsOf(ledger)).toEqual(await itemsOf(await singly(batches, order)));
      }),
      { numRuns },
    );
    // A few of them, whatever the random numbers are.
    expect(together).toBeGreaterThan(numRuns / 20);
  },
);

function recordOf(row: { slug: string; day: number; amount: number; kind: string }): unknown {
  const said = price(row.slug, row.day, row.amount) as { observedAt: string; sourceUrl: string };
  if (row.kind === 'no record') return 'no record';
  if (row.kind === 'unknown market') return { ...said, market: 'unknown' };
  if (row.kind === 'price') return said;
  const { observedAt, sourceUrl } = said;
  return { type: 'retraction', market: row.slug, metric: 'price', observedAt, sourceUrl, reason: 'a misprint' };
}

test('eleven batches of one sender about as many markets take a transaction for the first, and one for the others', async () => {
  const slugs = Array.from({ length: 11 }, (_, index) => `m-${index}`);
  const ledger = await ledgerWith([
    { sender: 'feed', records: slugs.map((slug) => market(slug)), mode: 'append', partial: false },
    ...appends(...slugs.map((slug) => price(slug, 1, 100))),
  ]);
  expect(await workOff({ ...clock, ledger })).toMatchObject({ done: 12, failed: 0 });
  const groups = ledger.commits.map(batchesIn).filter(({ length }) => length > 0);
  expect(groups.map(({ length }) => length)).toEqual([1, 1, 2, 4, 4, 1]);
});

describe('a batch that the transaction refuses', () => {
  /** Does something before the first transaction of several batches. */
  function meanwhile(ledger: Ledger, act: (changes: readonly Change[]) => Promise<unknown>): Ledger {
    let isFirst = true;
    return wrappedLedger(ledger, {
      async transact(changes, options) {
        if (isFirst && batchesIn({ changes }).length > 1) {
          isFirst = false;
          await act(changes);
        }
        return await ledger.transact(changes, options);
      },
    });
  }

  const five = appends(...SLUGS.slice(0, 5).map((slug) => price(slug, 1, 100)));
  const senders = five.map((sent, index) => ({ ...sent, sender: `feed-${index}` }));

  test('because its market has changed is decided again alone, and the others are committed together', async () => {
    const ledger = await ledgerWith(senders);
    const other = { id: 'bat_other', subject: 'other', mode: 'append', partial: false, dryRun: false } as const;
    const act = () => ingestBatch({ ...clock, ledger }, other, [price('c', 0, 90)]);
    const done = await workOff({ ...clock, ledger: meanwhile(ledger, act), transactionsAtOnce: 1 });
    expect(done).toMatchObject({ done: 5, failed: 0 });
    const groups = ledger.commits.map(batchesIn).filter(({ length }) => length > 0);
    expect(groups.map(({ length }) => length)).toEqual([1, 1, 4, 1]);
    expect(groups.at(-1)).toEqual([idOf(2)]);
  });

  test('because its stored body is damaged fails alone', async () => {
    const ledger = await ledgerWith(senders);
    await putItem(ledger, rawPartKey(idOf(2), 0), 'x');
    const failures: string[] = [];
    const done = await workOff({ ...clock, ledger, failed: (item) => failures.push(workIdOf(item)) });
    expect([done.done, failures]).toEqual([4, [idOf(2)]]);
    expect(await queuedWork(ledger)).toEqual([]);
  });

  test('because another worker has applied it is not applied again', async () => {
    const ledger = await ledgerWith(senders);
    const act = () => runBatch({ ...clock, ledger }, idOf(2));
    await workOff({ ...clock, ledger: meanwhile(ledger, act), transactionsAtOnce: 1 });
    const order = ledger.commits.flatMap(batchesIn).slice(1);
    expect(order[0]).toBe(idOf(2));
    expect(await itemsOf(ledger)).toEqual(await itemsOf(await singly(senders, order)));
  });
});
