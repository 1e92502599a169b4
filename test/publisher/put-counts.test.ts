/** The exact cost of a publish in requests: a rise in cost is a failing test. */
import { describe, expect, test } from 'vitest';
import { PUBLIC_PREFIX, type PublicObjectKind, parsePublicKey } from '../../contract/files/public-objects.ts';
import type { LogSettings, PublisherDependencies } from '../../publisher/dependencies.ts';
import { LAYOUT_PREFIX } from '../../publisher/kernel/list/list-layout.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { orderKey } from '../../storage/records/markets.ts';
import {
  awaitingGenerationKey,
  FRESH_MARKS,
  historyMarkKey,
  marketMarkKey,
} from '../../storage/records/publication.ts';
import { putItem } from '../storage/put-item.ts';
import { faultyStorage } from './faulty-storage.ts';
import { TEST_LOG, withLog } from './log/test-log.ts';
import { removeMarket } from './remove-market.ts';
import { createWorld, dependenciesOn, market, price, type World } from './world.ts';

type PutKind = PublicObjectKind | 'bundle' | 'layout';

interface Cost {
  readonly outcome: PublishOutcome;
  /** The number of stored objects, by kind. */
  readonly puts: { readonly [Kind in PutKind]?: number };
  /** Keys of stored objects, in order. */
  readonly keys: readonly string[];
  /** The number of puts, with those that were refused. */
  readonly tries: number;
  readonly transactions: number;
  /** Kinds of deleted objects. */
  readonly deletes: readonly PutKind[];
  /** The number of whole objects that were read. */
  readonly gets: number;
  /** The calls of both ports, in order, e.g. `objects.put public/api/v1/markets.json`. */
  readonly calls: readonly string[];
}

function kindOf(key: string): PutKind {
  return parsePublicKey(key)?.kind ?? (key.startsWith(LAYOUT_PREFIX) ? 'layout' : 'bundle');
}

async function costOfPublish(
  { ledger, objects, clock }: World,
  log?: LogSettings,
  settings: Partial<PublisherDependencies> = {},
): Promise<Cost> {
  const recording = faultyStorage(ledger, objects, -1, ({ run }) => run());
  objects.resetCounts();
  const dependencies = { ...dependenciesOn(recording.ledger, recording.objects, clock), ...settings };
  const outcome = await publish(log === undefined ? dependencies : withLog(dependencies, log));
  const keys = objects.puts.map(({ key }) => key);
  const calls = recording.operations.map(({ what }) => what);
  const deleted = calls.flatMap((call) =>
    call.startsWith('objects.delete ') ? [call.slice('objects.delete '.length)] : [],
  );
  return {
    outcome,
    puts: Object.fromEntries([...Map.groupBy(keys, kindOf)].map(([kind, all]) => [kind, all.length])),
    keys,
    tries: objects.counts.put,
    transactions: calls.filter((call) => call.startsWith('ledger.transact')).length,
    deletes: deleted.map(kindOf),
    gets: objects.counts.get,
    calls,
  };
}

/** Four list pages: b d f | h j l | n p r | t v. */
const SLUGS = ['b', 'd', 'f', 'h', 'j', 'l', 'n', 'p', 'r', 't', 'v'];

/** Every second day, so that a test can add an observation in between. */
function days(slug: string, count: number) {
  return Array.from({ length: count }, (_, index) => price(slug, 2 * index, 100 + index));
}

/**
 * A published world with 4 observations to a page. `h` has one observation; `j` has 4 and its page is full; `l` has 13:
 * three closed pages and 1 on the newest.
 */
async function settledWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([...SLUGS.map((slug) => market(slug)), ...days('h', 1), ...days('j', 4), ...days('l', 13)]);
  await publish(world.dependencies);
  return world;
}

/** Marks without a change, as two writes leave that cancel each other. */
async function markWithoutChange({ ledger, dependencies }: World): Promise<void> {
  const sourceUrl = 'https://example.com/l';
  const order = orderKey({ market: 'l', metric: 'price', observedAt: '2026-01-03T00:00:00Z', sourceUrl, ordinal: 0 });
  const marks = [
    [marketMarkKey('b'), 0],
    [marketMarkKey('l'), 0],
    [historyMarkKey('l', order), 0],
  ] as const;
  await ledger.transact(
    marks.map(([key, revision]) => ({ kind: 'put', key, revision, value: null, if: { kind: 'any' } })),
    { attemptId: dependencies.newAttemptId() },
  );
}

async function marksLeft({ ledger }: World): Promise<readonly string[]> {
  return (await readAll(ledger, { shards: FRESH_MARKS.shards })).map(({ sort }) => sort);
}

/** The puts of each generation in which the list changes. */
const COMMON = { 'market-list': 1, snapshot: 1, layout: 1, bundle: 1 };
/** The puts when the deployment changes, and of the first publish. */
const STATIC = { 'not-found': 1, problems: 1, waitlist: 1, openapi: 1 };
const ONE_MARKET = { ...COMMON, history: 1, market: 1 };

/** HEAD is swapped, the published state is recorded, HEAD is marked applied, marks are cleared. */
const TRANSACTIONS = 4;

/**
 * What happens, and the puts after it. The transactions are {@link TRANSACTIONS} by default; the gets those of the previous versions
 * of the list pages that are put, their layout, and the bundle.
 */
type Case = readonly [
  what: string,
  happen: (world: World) => Promise<unknown>,
  puts: Cost['puts'],
  transactions?: number,
  gets?: number,
];

type Records = Parameters<World['ingest']>[0];
const brings =
  (...records: Records) =>
  (world: World) =>
    world.ingest(records);
/** One market, and so many pages of the list and of its history. */
const pages = (list: number, history?: number) => {
  return { ...ONE_MARKET, 'market-list-page': list, ...(history && { 'history-page': history }) };
};

const CASES: readonly Case[] = [
  ['nothing', async () => undefined, {}, 0],
  ['marks without a change, which are cleared', markWithoutChange, {}, 1],
  ['one observation of a market on the first list page', brings(price('d', 0, 5)), ONE_MARKET],
  ['one observation of a market on the second of four list pages', brings(price('h', 2, 5)), pages(1)],
  ['an observation after three closed pages, none of which is put', brings(price('l', 26, 5)), pages(1)],
  ['an observation after a full page, which closes one page', brings(price('j', 8, 5)), pages(1, 1)],
  [
    'a correction inside the second of three closed pages, which puts it and the newer one',
    (world) => world.ingest([price('l', 10, -5)], 'correct'),
    pages(1, 2),
  ],
  ['an observation that is older than all others', brings(price('l', -1, 5)), pages(1, 3)],
  ['a new market in the middle of the list, which moves all later markets', brings(market('k')), pages(3)],
  [
    'a new market and a removed one of the same page, which move no later market',
    async (world) => {
      await world.ingest([market('i')]);
      await removeMarket(world, 'j');
    },
    { ...COMMON, history: 2, market: 2, 'market-list-page': 1 },
    TRANSACTIONS,
    6,
  ],
  ['a removed market, whose bodies say so', (world) => removeMarket(world, 'l'), pages(3)],
  [
    'a new name of a market, which does not change its history',
    (world) => world.ingest([{ ...market('h'), name: 'Another name' } as ReturnType<typeof market>]),
    { ...COMMON, market: 1, 'market-list-page': 1 },
  ],
  [
    'changes to markets on the first and the third list page, which are one generation',
    brings(price('d', 0, 5), price('f', 0, 5), price('n', 0, 5)),
    { ...COMMON, history: 3, market: 3, 'market-list-page': 2 },
  ],
];

describe('a publish makes exactly these puts, in one generation, deletes its own bundle, and the next one puts nothing, after', () => {
  test.for(CASES)('%s', async ([_what, happen, puts, transactions = TRANSACTIONS, gets]) => {
    const world = await settledWorld();
    await happen(world);
    const marks = (await marksLeft(world)).length;
    const cost = await costOfPublish(world);

    const total = Object.values(puts).reduce((sum, count) => sum + count, 0);
    expect(cost.puts).toEqual(puts);
    expect(cost.tries).toBe(total);
    expect(cost.transactions).toBe(transactions);
    expect(cost.deletes).toEqual(total === 0 ? [] : ['bundle']);
    const { layout = 0, bundle = 0, 'market-list': head = 0, 'market-list-page': pages = 0 } = puts;
    const rewritten = layout + bundle + head + pages;
    expect(cost.gets).toBe(gets ?? rewritten);
    expect(cost.outcome).toEqual({
      ...(total === 0 ? { kind: 'unchanged', generation: 1 } : { kind: 'published', generation: 2 }),
      marks,
      isMoreDue: false,
      behindMs: 0,
      areBodiesPublic: true,
      asksForRefresh: false,
      deferred: [],
      listDueAtMs: null,
    });
    expect(await marksLeft(world)).toEqual([]);
    expect(await costOfPublish(world)).toMatchObject({ puts: {}, tries: 0, transactions: 0, deletes: [] });
  });
});

test('a look at the store is not needed for bodies whose ETags the records have, and for a new market', async () => {
  const projections = new Set(['history-files'] as const);
  const world = createWorld();
  await world.ingest([market('l'), ...days('l', 13)]);
  await costOfPublish(world, undefined, { projections });
  await world.ingest([price('l', 26, 5), market('w'), ...days('w', 2)]);
  const { puts, calls } = await costOfPublish(world, undefined, { projections });
  expect(puts).toMatchObject({ market: 2, history: 2, 'history-csv': 2, 'history-year-ndjson': 1 });
  const looks = calls.filter((call) => call.startsWith(`objects.stat ${PUBLIC_PREFIX}`));
  // Whether the store is of this ledger; then the heads that are not of one market.
  expect(looks.map((call) => kindOf(call.slice('objects.stat '.length)))).toEqual([
    'snapshot',
    'market-list',
    'snapshot',
  ]);
});

test('the first publish puts everything once, with the static bodies', async () => {
  const world = createWorld();
  await world.ingest([...SLUGS.map((slug) => market(slug)), ...days('l', 13)]);
  const { puts, tries } = await costOfPublish(world);
  expect(puts).toEqual({
    ...COMMON,
    'market-list-page': 3,
    market: 11,
    history: 11,
    'history-page': 3,
    ...STATIC,
  });
  expect(tries).toBe(4 + 3 + 11 + 11 + 3 + 4);
});

test('a publish puts immutable pages, bundle, HEAD, then history, market, list, snapshot', async () => {
  const world = await settledWorld();
  await world.ingest([price('j', 8, 5)]);
  const { calls, keys } = await costOfPublish(world);
  const [pages, heads] = [
    ['history-page', 'market-list-page', 'layout'],
    ['history', 'market', 'market-list', 'snapshot'],
  ];
  expect(keys.map(kindOf)).toEqual([...pages, 'bundle', ...heads]);
  const placeOf = (start: string) => calls.findIndex((call) => call.startsWith(start));
  const swap = placeOf('ledger.transact');
  expect(swap).toBeGreaterThan(placeOf('objects.put redo/'));
  expect(swap).toBeLessThan(placeOf(`objects.put ${PUBLIC_PREFIX}/api/v1/markets/j/history.json`));
});

test('with a log, one observation costs four more puts: checkpoint, hashes, and the entries in two forms', async () => {
  const world = await settledWorld();
  await costOfPublish(world, TEST_LOG);
  await world.ingest([price('d', 0, 5)]);
  const cost = await costOfPublish(world, TEST_LOG);
  expect(cost.puts).toEqual({ ...ONE_MARKET, 'log-checkpoint': 1, 'log-tile': 2, 'log-ndjson': 1 });
  expect(cost.transactions).toBe(TRANSACTIONS);
  expect((await costOfPublish(world, TEST_LOG)).puts).toEqual({});
});

test('the cost of a publish does not grow with the batches that wait for a deferred market, published or new', async () => {
  const callsWith = async (batches: number): Promise<number> => {
    const world = await settledWorld();
    await world.ingest([market('new')]);
    for (const slug of ['b', 'new']) {
      await putItem(world.ledger, marketMarkKey(slug), null, 99);
      for (let batch = 0; batch < batches; batch++)
        await putItem(world.ledger, awaitingGenerationKey(`batch/${slug}-${batch}`), { revisions: { [slug]: 99 } });
    }
    const { outcome, calls } = await costOfPublish(world);
    expect(outcome.deferred.map(({ slug }) => slug)).toEqual(['b', 'new']);
    return calls.length;
  };
  expect(await callsWith(20)).toBe(await callsWith(1));
});
