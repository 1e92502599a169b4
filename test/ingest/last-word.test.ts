/** The last batch of a lane has the last word, also while reads do not show the batch before it as a whole. */
import { expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { MAX_TRANSACT_CHANGES } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { marketKey, marketPartition, observationsOf } from '../../storage/records/markets.ts';
import { laggingLedger } from '../publisher/lagging-ledger.ts';
import { market, price } from '../publisher/world.ts';
import { queueBatch } from './queued-batch.ts';
import { openRecordedLedger, type RecordedLedger } from './recorded-ledger.ts';
import { workOff } from './work-off.ts';

type Batch = readonly [records: readonly IngestRecordInput[], mode?: IngestMode];

interface Said {
  readonly name: string | undefined;
  /** Of the versions of one observation, oldest first. */
  readonly amounts: readonly unknown[];
}

async function saidOf(ledger: RecordedLedger): Promise<Said> {
  const observations = await readAll(ledger, observationsOf('a'));
  return {
    name: (await ledger.get(marketKey('a')))?.value.name,
    amounts: observations.map(({ value }) => (value.kind === 'money' ? value.amountMinor : value.value)),
  };
}

const { observedAt, sourceUrl } = price('a', 0, 1) as { observedAt: string; sourceUrl: string };
const retraction: IngestRecordInput = {
  type: 'retraction',
  market: 'a',
  metric: 'price',
  observedAt,
  sourceUrl,
  reason: 'a misprint',
};
const renamed = { ...market('a'), name: 'Other' } as IngestRecordInput;

const LANES: readonly [what: string, before: readonly Batch[], late: Batch, last: Batch, expected: Said][] = [
  [
    'a correction back to the value before',
    [[[market('a'), price('a', 0, 100)]]],
    [[price('a', 0, 200)], 'correct'],
    [[price('a', 0, 100)], 'correct'],
    { name: 'Market a', amounts: [100, 200, 100] },
  ],
  [
    'a retraction of what was retracted before',
    [[[market('a'), price('a', 0, 100)]], [[retraction]]],
    [[price('a', 0, 200)], 'correct'],
    [[retraction]],
    { name: 'Market a', amounts: [100, null, 200, null] },
  ],
  [
    'a retraction of what the batch before has appended',
    [[[market('a')]]],
    [[price('a', 0, 100)]],
    [[retraction]],
    { name: 'Market a', amounts: [100, null] },
  ],
  [
    'a price as the batch before has corrected it',
    [[[market('a'), price('a', 0, 100)]]],
    [[price('a', 0, 200)], 'correct'],
    [[price('a', 0, 200), price('a', 1, 300)]],
    { name: 'Market a', amounts: [100, 200, 300] },
  ],
  [
    'a price in a market that the batch before has defined',
    [],
    [[market('a')]],
    [[price('a', 0, 100)]],
    { name: 'Market a', amounts: [100] },
  ],
  ['a definition as before', [[[market('a')]]], [[renamed]], [[market('a')]], { name: 'Market a', amounts: [] }],
];

test.each(LANES)('%s comes last, whichever items are shown late', async (_, before, late, last, expected) => {
  let subsets = 1;
  for (let subset = 0; subset < subsets; subset++) {
    const ledger = openRecordedLedger();
    const lagging = laggingLedger(ledger);
    let batches = 0;
    const queue = ([records, mode = 'append']: Batch) =>
      queueBatch(lagging.writer, `bat_${++batches}`, records, { mode });
    for (const batch of before) await queue(batch);
    await workOff({ ledger: lagging.writer });
    await queue(late);
    lagging.hold();
    await workOff({ ledger: lagging.writer });
    const held = lagging.held().filter(({ partition }) => partition === marketPartition('a'));
    subsets = 2 ** held.length;
    const isLate = ({ partition, sort }: { readonly partition: string; readonly sort: string }) =>
      partition === marketPartition('a') && (subset >> held.findIndex((item) => item.sort === sort)) % 2 === 1;
    lagging.show((item) => !isLate(item));
    await queue(last);
    await workOff({ ledger: lagging.reader, pause: async () => lagging.show() });
    expect(await saidOf(ledger), `late: ${held.filter(isLate).map(({ sort }) => sort)}`).toEqual(expected);
  }
  expect(subsets).toBeGreaterThan(1);
});

test('a file that is sent again to correct costs a check for each row, in transactions that fit', async () => {
  const ledger = openRecordedLedger();
  const records = ['a', 'b', 'c'].flatMap((slug) => [
    market(slug),
    ...Array.from({ length: 150 }, (_, day) => price(slug, day, 5_000 + day)),
  ]);
  await queueBatch(ledger, 'bat_1', records);
  await workOff({ ledger });
  const costOf = async (mode: IngestMode, id: string) => {
    await queueBatch(ledger, id, records, { mode });
    const from = ledger.transactions.length;
    await workOff({ ledger });
    const sizes = ledger.transactions.slice(from);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MAX_TRANSACT_CHANGES);
    return { transactions: sizes.length, changes: sizes.reduce((sum, size) => sum + size, 0) };
  };
  // The lease, and the end with a check of each definition.
  expect(await costOf('append', 'bat_2')).toEqual({ transactions: 2, changes: 7 });
  expect(await costOf('correct', 'bat_3')).toEqual({ transactions: 9, changes: 470 });
});
