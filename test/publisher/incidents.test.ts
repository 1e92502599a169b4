/** Past incidents: what becomes one, when it is over, and that nothing is written as long as nothing happens. */
import { describe, expect, test } from 'vitest';
import type { PublicIncidents } from '../../contract/bodies/incidents.ts';
import { INCIDENTS_MAX } from '../../contract/files/limits.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { Projector } from '../../publisher/kernel/projection.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import { publish } from '../../publisher/publish.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { INCIDENTS_KEY } from '../../storage/records/incidents.ts';
import { DEFERRED, FRESH_MARKS } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { createFilesWorld, type FilesWorld } from './files-world.ts';
import { laggingLedger } from './lagging-ledger.ts';
import { createWorld, dependenciesOn, market, price, publicObjects, SMALL_PAGES } from './world.ts';

const [FILE, FEED] = ['public/api/v1/incidents.json', 'public/feeds/incidents.atom'];
const MINUTE = 60_000;

/** Of the newest price that {@link publishLate} has written. */
let day = 10;

const fileOf = ({ objects }: Pick<FilesWorld, 'objects'>) =>
  JSON.parse(publicObjects(objects).get(FILE) as string) as PublicIncidents;
const recordOf = async ({ ledger }: Pick<FilesWorld, 'ledger'>) => (await ledger.get(INCIDENTS_KEY))?.value;
const iso = (ms: number) => new Date(ms).toISOString();

/** `a` and `b` are published; incidents are recorded since. */
async function publishedWorld(): Promise<FilesWorld> {
  const world = createFilesWorld(createWorld(), ['feeds']);
  await world.ingest([market('a'), market('b'), price('a', 0, 100), price('b', 0, 100)]);
  await world.publish();
  return world;
}

/** Writes a price of each market, and publishes this many minutes later. */
async function publishLate(world: FilesWorld, minutes: number, ...slugs: readonly string[]): Promise<string> {
  world.clock.nowMs += MINUTE;
  const writtenAt = iso(world.clock.nowMs);
  day++;
  for (const slug of slugs) await world.ingest([price(slug, day, day)]);
  world.clock.nowMs += minutes * MINUTE;
  await world.publish();
  return writtenAt;
}

test('a service without an incident says since when none is recorded, and publishing writes nothing for it', async () => {
  const world = await publishedWorld();
  expect(fileOf(world)).toEqual({ since: iso(world.clock.nowMs), data: [] });
  world.objects.resetCounts();
  await publishLate(world, 5, 'a');
  expect(world.objects.puts.map(({ key }) => key)).not.toContain(FILE);
  expect((await recordOf(world))?.incidents).toEqual({});
  world.objects.resetCounts();
  for (let minutes = 0; minutes < 3; minutes++) {
    world.clock.nowMs += 10 * MINUTE;
    await world.publish();
  }
  expect(world.objects.puts).toEqual([]);
  expect(await world.findings()).toEqual([]);
});

describe('late publication', () => {
  test('is one from the first write that waited until its generation', async () => {
    const world = await publishedWorld();
    const startedAt = await publishLate(world, 6, 'a', 'b');
    const incident = { kind: 'publication-late', about: null, markets: 2, startedAt, endedAt: iso(world.clock.nowMs) };
    expect(fileOf(world).data).toMatchObject([incident]);
    expect(publicObjects(world.objects).get(FEED)).toContain(`until ${incident.endedAt}`);
    expect(await world.findings()).toEqual([]);
    world.objects.resetCounts();
    await world.publish();
    expect(world.objects.puts).toEqual([]);
  });

  test('goes on while generations leave other changes, and ends with the one that leaves none', async () => {
    const world = await publishedWorld();
    const few = createFilesWorld({ ...world, dependencies: { ...world.dependencies, maxMarkedMarkets: 1 } }, ['feeds']);
    const startedAt = await publishLate(few, 7, 'a', 'b');
    expect(fileOf(world).data).toMatchObject([{ startedAt, endedAt: null }]);
    const [during] = Object.keys((await recordOf(world))?.incidents ?? {});
    expect(await world.findings()).toEqual([]);
    world.clock.nowMs += MINUTE;
    await few.publish();
    expect(fileOf(world).data).toMatchObject([{ startedAt, endedAt: iso(world.clock.nowMs), id: during }]);
    expect(await world.findings()).toEqual([]);
  });
});

test('a market is one from the moment at which it was put off until it is published', async () => {
  const lag = laggingLedger(openSqliteLedger(':memory:'));
  const written = createWorld(SMALL_PAGES, lag.writer);
  const read = {
    ...written,
    ledger: lag.reader,
    dependencies: dependenciesOn(lag.reader, written.objects, written.clock),
  };
  const world = createFilesWorld(read, ['feeds']);
  await world.ingest([market('a'), price('a', 0, 100)]);
  await world.publish();
  world.clock.nowMs += MINUTE;
  lag.hold();
  await world.ingest([price('a', 1, 1)]);
  lag.show(({ partition }) => FRESH_MARKS.shards.includes(partition));
  const startedAt = iso(world.clock.nowMs);
  await world.publish();
  for (const minutes of [5, 1, 1]) {
    world.clock.nowMs += minutes * MINUTE;
    await world.publish();
    const isOne = Date.parse(startedAt) + 5 * MINUTE < world.clock.nowMs;
    expect(fileOf(world).data).toMatchObject(
      isOne ? [{ kind: 'market-deferred', about: 'a', startedAt, endedAt: null }] : [],
    );
  }
  lag.show();
  await world.publish();
  expect(fileOf(world).data).toMatchObject([{ about: 'a', startedAt, endedAt: iso(world.clock.nowMs) }]);
  expect(await readAll(world.ledger, DEFERRED)).toEqual([]);
  expect(await world.findings()).toEqual([]);
});

test('a source is one from the moment at which its value was expected, and only if that is recorded', async () => {
  const cadence = { graceSeconds: 3600, period: 'day', releaseAfterDays: 0, releaseTime: '15:00' };
  const source = {
    label: 'daily',
    url: 'https://example.com/',
    publisher: null,
    licence: null,
    attribution: null,
    cadence,
  };
  const of = (slug: string) => ({ ...(market(slug) as object), sources: [source] }) as IngestRecordInput;
  const value = (slug: string, day: number) =>
    ({ ...price(slug, day, day), sourceLabel: 'daily' }) as IngestRecordInput;
  const world = createFilesWorld(createWorld(), ['feeds']);
  // 2026-10-01, 12:00: the value of the day before is there.
  await world.ingest([of('a'), value('a', 272)]);
  await world.publish();
  world.objects.resetCounts();
  world.clock.nowMs = Date.parse('2026-10-01T16:00:00Z');
  await world.publish();
  expect([fileOf(world).data, world.objects.puts]).toEqual([[], []]);
  world.clock.nowMs += 1000;
  await world.publish();
  const incident = { kind: 'source-late', about: 'daily', markets: 1, startedAt: '2026-10-01T15:00:00.000Z' };
  expect(fileOf(world).data).toMatchObject([{ ...incident, endedAt: null }]);
  world.clock.nowMs += MINUTE;
  await world.ingest([value('a', 273)]);
  await world.publish();
  expect(fileOf(world).data).toMatchObject([{ ...incident, endedAt: iso(world.clock.nowMs) }]);
  expect(await world.findings()).toEqual([]);
});

test('a kind of files that cannot be made is one until it is made again', async () => {
  const world = await publishedWorld();
  let isBroken = true;
  const finish = async () => {
    if (isBroken) throw new Error('it is broken');
    return { state: undefined };
  };
  const broken: Projector = { name: 'broken', kinds: [], plan: async () => ({ finish }) };
  const publishIn = async (minutes: number) => {
    world.clock.nowMs += minutes * MINUTE;
    await publish(world.dependencies, [...PROJECTORS, broken]);
    return fileOf(world).data;
  };
  expect(await publishIn(0)).toEqual([]);
  const incident = { kind: 'files-deferred', about: 'broken', markets: null, startedAt: iso(world.clock.nowMs) };
  expect(await publishIn(5)).toEqual([]);
  expect(await publishIn(1)).toMatchObject([{ ...incident, endedAt: null }]);
  isBroken = false;
  await publishIn(1);
  expect(await publishIn(1)).toMatchObject([{ ...incident, endedAt: iso(world.clock.nowMs) }]);
});

test('the last hundred are kept, and neither the file nor the ledger has more', async () => {
  const world = await publishedWorld();
  const started: string[] = [];
  for (let round = 0; round < INCIDENTS_MAX + 3; round++) started.unshift(await publishLate(world, 6, 'a'));
  expect(fileOf(world).data.map(({ startedAt }) => startedAt)).toEqual(started.slice(0, INCIDENTS_MAX));
  expect(Object.keys((await recordOf(world))?.incidents ?? {})).toHaveLength(INCIDENTS_MAX);
  expect(await world.findings()).toEqual([]);
});

describe('verify finds', () => {
  test.each([
    ['a sentence of another incident', FILE, '1 market waited', '2 markets waited', 'file'],
    ['an end before the beginning', FILE, '"endedAt":"2026', '"endedAt":"2025', 'file'],
    ['another moment in the feed', FEED, '<published>2026', '<published>2025', 'file'],
  ])('%s', async (_, key, from, to, rule) => {
    const world = await publishedWorld();
    await publishLate(world, 6, 'a');
    await world.forge(key, (body) => body.toString().replace(from, to));
    expect(await world.findings()).toMatchObject([{ rule }]);
  });
});
