/** The published list is read for late sources: when it has changed, and a page at a time. */
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import { startExpectationsLoop } from '../../server/service/background.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { createWorld, market, price } from '../publisher/world.ts';

afterEach(() => {
  vi.useRealTimers();
});

const cadence = { period: 'day', releaseTime: '00:00', graceSeconds: 0 };
const timed = (slug: string) => {
  const source = { label: 'a test', url: 'https://example.com', publisher: null, licence: null, attribution: null };
  return { ...(market(slug) as object), sources: [{ ...source, cadence }] } as never;
};

/** Pages have three markets. */
async function watched() {
  const world = createWorld();
  const reads: string[] = [];
  const reports: unknown[] = [];
  let fails = false;
  const objects: Pick<ObjectStore, 'get'> = {
    async get(key, options) {
      if (fails) throw new StorageUnavailable('no disk');
      const result = await world.objects.get(key, options);
      reads.push(result.kind);
      return result;
    },
  };
  let breaths = 0;
  const yieldToEventLoop = async () => void breaths++;
  const start = () => {
    const loop = startExpectationsLoop({ objects, yieldToEventLoop, report: (what) => reports.push(what) });
    onTestFinished(() => loop.stop());
    return loop;
  };
  return { world, reads, reports, start, breaths: () => breaths, fail: (state: boolean) => (fails = state) };
}

test('nothing is known before the first publication; then each page is read once, and again when the list changes', async () => {
  const { world, reads, start, breaths } = await watched();
  const loop = start();
  await loop.settled();
  expect(loop.current()).toBeNull();

  await world.ingest(['a', 'b', 'c', 'd'].map(timed));
  await world.ingest([price('a', 0, 1), price('d', 3, 1)]);
  await publish(world.dependencies);
  loop.wake();
  await loop.settled();
  expect(loop.current()?.late(Date.parse('2026-01-03T00:00:00Z'))).toMatchObject([{ label: 'a test', markets: 1 }]);
  expect(loop.current()?.late(Date.parse('2026-01-09T00:00:00Z'))).toMatchObject([{ label: 'a test', markets: 2 }]);
  expect(breaths()).toBe(1);

  loop.wake();
  await loop.settled();
  expect(reads).toEqual(['absent', 'found', 'found', 'not-modified']);

  await world.ingest([price('a', 5, 1)]);
  await publish(world.dependencies);
  loop.wake();
  await loop.settled();
  expect(loop.current()?.oldest).toBe('2026-01-05T00:00:00.000Z');
});

test('a store that fails leaves what is known, and is reported', async () => {
  const { world, reports, start, fail } = await watched();
  await world.ingest([timed('a'), price('a', 0, 1)]);
  await publish(world.dependencies);
  const loop = start();
  await loop.settled();
  fail(true);
  loop.wake();
  await loop.settled();
  expect(loop.current()?.oldest).toBe('2026-01-02T00:00:00.000Z');
  expect(reports).toHaveLength(1);
});
