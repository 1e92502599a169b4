import { expect, test } from 'vitest';
import type { Projection } from '../../contract/files/projections.ts';
import { publish } from '../../publisher/publish.ts';
import { startDailyLoop } from '../../server/loops/daily-loop.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { logChunkKey } from '../../storage/records/log.ts';
import { HEAD_KEY, type HeadValue } from '../../storage/records/publication.ts';
import { DAY_MS, days, exportWorld, keysOf } from '../publisher/exports/export-world.ts';
import { rowsOf } from '../publisher/exports/exported.ts';
import { market } from '../publisher/world.ts';
import { deleteItem, putItem } from '../storage/put-item.ts';

function started(yieldToEventLoop = async () => {}) {
  const world = exportWorld();
  const faults: unknown[] = [];
  const lines: [string, object][] = [];
  const begin = () =>
    startDailyLoop({
      storage: world.options.storage,
      yieldToEventLoop,
      report: (_, cause) => faults.push(cause),
      info: (what, fields) => lines.push([what, fields ?? {}]),
    });
  return { ...world, begin, faults, lines };
}

test('an export at the start if there is none of today, and one a day', async () => {
  const world = started();
  await world.ingest([market('a'), ...days('a', 3)]);
  await publish(world.options.storage as never);
  const loop = world.begin();
  await loop.settled();
  expect(await rowsOf(world.read, 'observations')).toHaveLength(3);
  await world.ingest(days('a', 2, 3));
  await publish(world.options.storage as never);
  for (const expected of [3, 5]) {
    loop.wake();
    await loop.settled();
    expect(await rowsOf(world.read, 'observations')).toHaveLength(expected);
    world.clock.nowMs += DAY_MS;
  }
  await loop.stop();
  const exported = (date: string) => [
    'daily files',
    { projection: 'exports', kind: 'made', date, durationMs: expect.any(Number) },
  ];
  expect(world.lines).toEqual([exported('2026-10-01'), exported('2026-10-02')]);
  expect(world.faults).toEqual([]);
});

test('nothing without data; a stop ends an export at once, and the next start makes it', async () => {
  let breaths = 0;
  let stop = () => {};
  const world = started(async () => {
    if (++breaths === 3) stop();
  });
  const idle = world.begin();
  await idle.settled();
  await idle.stop();
  expect(keysOf(world)).toEqual([]);
  await world.ingest([market('a'), ...days('a', 600)]);
  await publish(world.options.storage as never);
  const loop = world.begin();
  stop = () => void loop.stop();
  await loop.settled();
  expect(keysOf(world).filter((key) => key.includes('datapackage'))).toEqual([]);
  stop = () => {};
  const again = world.begin();
  await again.settled();
  await again.stop();
  expect(await rowsOf(world.read, 'observations')).toHaveLength(600);
});

const MINUTE_MS = 60_000;

/** A server that has made its first export, of 3 rows. */
async function firstDay() {
  const world = started();
  await world.publishOf([market('a'), ...days('a', 3)]);
  const loop = world.begin();
  await loop.settled();
  let next = 3;
  const look = async () => {
    loop.wake();
    await loop.settled();
    return (await rowsOf(world.read, 'observations')).length;
  };
  return { ...world, loop, look, more: () => world.publishOf(days('a', 1, next++)) };
}

test('on the first day, an export after each quiet minute, then after two of them, and so on', async () => {
  const { clock, more, look, loop, faults, findings } = await firstDay();
  const seen: number[] = [];
  for (const quietMinutes of [0, 1, 1, 2, 2, 3]) {
    await more();
    clock.nowMs += quietMinutes * MINUTE_MS;
    seen.push(await look());
  }
  expect(seen).toEqual([3, 5, 5, 7, 7, 9]);
  expect(await findings()).toEqual([]);
  await loop.stop();
  expect(faults).toEqual([]);
});

test('made at once for who asks, also on later days, and for all who ask at a time', async () => {
  const { clock, more, loop, read, findings, lines } = await firstDay();
  clock.nowMs += DAY_MS;
  await more();
  loop.wake();
  await loop.settled();
  await more();
  const asked = await Promise.all([loop.make('exports'), loop.make('exports')]);
  expect(asked).toEqual([
    { kind: 'made', date: '2026-10-02' },
    { kind: 'made', date: '2026-10-02' },
  ]);
  expect(await rowsOf(read, 'observations')).toHaveLength(5);
  expect(await findings()).toEqual([]);
  await loop.settled();
  // One of each day, and at most one for each of those who have asked.
  expect(lines.length).toBeLessThanOrEqual(4);
  await loop.stop();
});

test('who asks waits for the generation that is being applied, and is told of a fault and of a stop', async () => {
  const { loop, options } = await firstDay();
  const { ledger } = options.storage;
  const setApplied = async (applied: boolean) => {
    const head = (await ledger.get(HEAD_KEY)) as Item<HeadValue>;
    await putItem(ledger, HEAD_KEY, { ...head.value, applied }, head.revision);
  };
  await setApplied(false);
  const asked = loop.make('exports');
  await loop.settled();
  await setApplied(true);
  expect(await asked).toMatchObject({ kind: 'made' });
  await setApplied(false);
  const refused = loop.make('exports');
  const stopped = expect(refused).rejects.toThrow();
  await loop.settled();
  await loop.stop();
  await stopped;
});

test('an export that fails does not stop the files for other programs', async () => {
  const world = started();
  const storage = { ...world.options.storage, projections: new Set<Projection>(['log', 'exports', 'compat']) };
  await world.ingest([market('a'), ...days('a', 3)]);
  await publish(storage as never);
  await deleteItem(world.ledger, logChunkKey(0, 0));
  const faults: unknown[] = [];
  const report = (_: string, cause: unknown) => faults.push(cause);
  const loop = startDailyLoop({ storage, yieldToEventLoop: async () => {}, report, info: () => {} });
  await loop.settled();
  await loop.stop();
  expect(faults).toHaveLength(1);
  expect(keysOf(world)).toEqual([]);
  expect([...world.objects.snapshot().keys()].filter((key) => key.includes('/compat/'))).not.toEqual([]);
});
