/** The embedded server verifies itself: its result, its pace, and its end. */
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { startVerifyLoop } from '../../server/loops/verify-loop.ts';
import type { LogFields } from '../../server/service/log.ts';
import { damagedReader, withField } from '../publisher/verify/damaged-reader.ts';
import { createWorld, market, price, readerOf, START_MS } from '../publisher/world.ts';

const world = createWorld(DEFAULT_PAGE_SIZES);
await world.ingest([market('a'), price('a', 0, 5)]);
await publish(world.dependencies);
const sound = readerOf(world.objects);

function watched(reader: PublicReader) {
  const lines: [what: string, fields: LogFields | unknown][] = [];
  const pauses: number[] = [];
  const loop = startVerifyLoop({
    reader,
    everyHours: 24,
    nowMs: () => START_MS,
    pause: async (durationMs) => void pauses.push(durationMs),
    log: { info: (...line) => void lines.push(line), fault: (...line) => void lines.push(line) },
  });
  onTestFinished(() => loop.stop());
  return { loop, lines, pauses };
}

test('a sound service has no findings, and each read is followed by a pause', async () => {
  let [reads, running, most] = [0, 0, 0];
  const { loop, lines, pauses } = watched(async (url, headers) => {
    reads++;
    most = Math.max(most, ++running);
    const answer = await sound(url, headers);
    running--;
    return answer;
  });
  expect(loop.last()).toBeNull();
  loop.wake();
  await loop.settled();
  expect(loop.last()).toEqual({ at: new Date(START_MS).toISOString(), findings: 0, missingValues: 0, share: '0 of 1' });
  expect(lines).toMatchObject([
    ['verified', { generation: 1, share: '0 of 1', markets: 1, observations: 1, findings: 0 }],
  ]);
  expect(most).toBe(1);
  expect(pauses).toHaveLength(reads);
});

test('findings that stay are counted and logged', async () => {
  const wrong = damagedReader(sound, { '/api/v1/markets/a/history': withField('data.0.decimal', '9.99') });
  const { loop, lines } = watched(wrong);
  loop.wake();
  await loop.settled();
  expect(loop.last()?.findings).toBeGreaterThan(0);
  expect(lines.filter(([what]) => what === 'finding of verify')).toHaveLength(loop.last()?.findings as number);
});

test('a run that gets no answers is a fault, and no result', async () => {
  const { loop, lines } = watched(() => Promise.reject(new Error('no route')));
  loop.wake();
  await loop.settled();
  expect(loop.last()).toBeNull();
  expect(lines.map(([what]) => what)).toEqual(['verify failed']);
});

test('a stop ends a run between two reads, without a fault', async () => {
  const first = Promise.withResolvers<void>();
  let reads = 0;
  const { loop, lines } = watched(async (url, headers) => {
    if (reads++ === 0) await first.promise;
    return await sound(url, headers);
  });
  loop.wake();
  await Promise.resolve();
  const stopped = loop.stop();
  first.resolve();
  await stopped;
  expect([reads, loop.last(), lines]).toEqual([1, null, []]);
});
