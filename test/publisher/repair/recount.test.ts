/** A market's record, derived from its observations alone. */
import { describe, expect, test } from 'vitest';
import { mendedVersions, recountOf, type StoredObservation } from '../../../publisher/repair/recount.ts';
import { HistorySum } from '../../../storage/ports/history-sum.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import {
  type MarketRecordValue,
  marketKey,
  observationIdAt,
  observationsOf,
  orderOfObservation,
  ordinalOf,
} from '../../../storage/records/markets.ts';
import { createWorld, market, price, type World } from '../world.ts';

const RETRACTION = { ...identityOf(price('gold', 1, 0)), type: 'retraction', reason: 'it was another metal' } as const;

const HISTORIES: readonly [string, (world: World) => Promise<unknown>][] = [
  ['nothing was observed', async () => undefined],
  ['one number was observed', (world) => world.ingest([price('gold', 0, 1)])],
  ['numbers came in order', (world) => world.ingest([price('gold', 0, 1), price('gold', 1, 2), price('gold', 2, 3)])],
  ['one of them is unknown', (world) => world.ingest([price('gold', 0, 1), price('gold', 1, null)])],
  [
    'they came in the opposite order',
    async (world) => {
      for (const day of [2, 1, 0]) await world.ingest([price('gold', day, 10 + day)]);
    },
  ],
  [
    'one was corrected, and corrected again',
    async (world) => {
      await world.ingest([price('gold', 0, 1), price('gold', 1, 2)]);
      await world.ingest([price('gold', 0, 5)], 'correct');
      await world.ingest([price('gold', 0, 6)], 'correct');
    },
  ],
  [
    'the newest was corrected',
    async (world) => {
      await world.ingest([price('gold', 0, 1), price('gold', 1, 2)]);
      await world.ingest([price('gold', 1, 5)], 'correct');
    },
  ],
  [
    'the newest was taken back',
    async (world) => {
      await world.ingest([price('gold', 0, 1), price('gold', 1, 2)]);
      await world.ingest([RETRACTION]);
    },
  ],
];

describe('a record that was written with its observations equals their recount', () => {
  test.each(HISTORIES)('when %s', async (_, happen) => {
    const world = createWorld();
    await world.ingest([market('gold')]);
    await happen(world);
    const observations = await stored(world);
    const { value } = (await world.ledger.get(marketKey('gold'))) as { value: MarketRecordValue };
    expect(value).toEqual({ ...value, ...recountOf(observations) });
    expect(mendedVersions('gold', observations)).toEqual([]);
  });
});

test('the sum depends on places and revisions', async () => {
  const world = createWorld();
  await world.ingest([market('gold'), price('gold', 0, 1)]);
  await world.ingest([price('gold', 1, 2)]);
  const [first, second] = (await stored(world)) as [StoredObservation, StoredObservation];
  const sum = new HistorySum();
  sum.add(orderOfObservation(second), 2);
  sum.add(orderOfObservation(first), 1);
  expect(recountOf([first, second]).sum).toBe(sum.text);
});

describe('links between versions', () => {
  /** Three versions of day 0, and one of day 1. */
  async function corrected(): Promise<readonly StoredObservation[]> {
    const world = createWorld();
    await world.ingest([market('gold'), price('gold', 0, 1), price('gold', 1, 9)]);
    for (const amount of [2, 3]) await world.ingest([price('gold', 0, amount)], 'correct');
    return await stored(world);
  }

  const LOST: readonly [string, readonly number[], readonly number[]][] = [
    ['if the first version is lost, the others move up', [0], [1, 2]],
    ['if a version in the middle is lost, the later one takes its place', [1], [2]],
    ['if the last version is lost, the one before it becomes the newest', [2], [1]],
    ['a lost observation without other versions changes no link', [3], []],
    ['if all other versions are lost, the remaining one has no links', [0, 2], [1]],
  ];

  test.each(LOST)('%s', async (_, lost, mended) => {
    const all = await corrected();
    const left = all.filter((_, index) => !lost.includes(index));
    const result = mendedVersions('gold', left);
    expect(result.map(({ from }) => all.findIndex((item) => item.sort === from))).toEqual(mended);
    const after = left.map((item) => result.find(({ from }) => from === item.sort)?.item ?? item);
    const versions = after.filter(({ value }) => value.observedAt === all[0]?.value.observedAt);
    const ids = versions.map(({ value }) => value.id);
    expect(versions.map(({ value }) => value.supersedes)).toEqual([null, ...ids].slice(0, ids.length));
    expect(versions.map(({ value }) => value.supersededBy)).toEqual([...ids.slice(1), null].slice(0, ids.length));
    expect(versions.map((item) => ordinalOf(orderOfObservation(item)))).toEqual([...versions.keys()]);
    expect(ids).toEqual(versions.map((item) => observationIdAt('gold', orderOfObservation(item))));
  });
});

async function stored({ ledger }: World): Promise<readonly StoredObservation[]> {
  return await readAll(ledger, observationsOf('gold'));
}

function identityOf(record: ReturnType<typeof price>) {
  const { market, metric, observedAt, sourceUrl } = record as Extract<typeof record, { type: 'observation' }>;
  return { market, metric, observedAt, sourceUrl };
}
