/** For how long a page stays that nothing links to any more. In numbers of its own: they are promised to readers. */
import { expect, test } from 'vitest';
import { publish } from '../../../publisher/publish.ts';
import { collectGarbage } from '../../../publisher/sweep/collect-garbage.ts';
import { createWorld, market, price } from '../world.ts';

/** A cursor is good for a day. */
const CURSOR_MS = 24 * 60 * 60 * 1000;
/** A cache may hand out the body with the cursor for so long: while it is fresh, and while the origin fails. */
const CACHED_MS = (15 + 300) * 1000;

test('a superseded page stays for the life of a cursor, counted from when no cache hands that out any more', async () => {
  const world = createWorld();
  await world.ingest([market('a'), ...Array.from({ length: 9 }, (_, day) => price('a', day, day + 1))]);
  await publish(world.dependencies);
  await world.ingest([price('a', 1, 1000)], 'correct');
  await publish(world.dependencies);

  const removedAfter = async (elapsedMs: number) => {
    world.clock.nowMs += elapsedMs;
    return (await collectGarbage(world.dependencies, { dryRun: true })).removed;
  };
  expect(await removedAfter(CURSOR_MS + CACHED_MS)).toEqual([]);
  expect(await removedAfter(1)).toContainEqual(expect.stringContaining('/history-pages/a/1-'));
});
