import { expect, test } from 'vitest';
import { startExportLoop } from '../../embedded/export-loop.ts';
import { publish } from '../../publisher/publish.ts';
import { DAY_MS, days, exportWorld, keysOf } from '../publisher/exports/export-world.ts';
import { rowsOf } from '../publisher/exports/exported.ts';
import { market } from '../publisher/world.ts';

function started(breathe = async () => {}) {
  const world = exportWorld();
  const faults: unknown[] = [];
  const lines: [string, object][] = [];
  const begin = () =>
    startExportLoop({
      storage: world.options.storage,
      breathe,
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
  const exported = (date: string) => ['exported', { date, durationMs: expect.any(Number) }];
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
