import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startWakeLoop, type WakeLoop } from '../../server/loops/wake-loop.ts';

const INTERVAL_MS = 1_000;

interface Watched {
  readonly loop: WakeLoop;
  readonly errors: unknown[];
  /** The rounds that have begun. The test ends each of them. */
  readonly rounds: { readonly stopping: AbortSignal; end(): void; fail(cause: unknown): void }[];
}

let open: Watched[] = [];

function watchedLoop(): Watched {
  const rounds: Watched['rounds'][number][] = [];
  const errors: unknown[] = [];
  const loop = startWakeLoop({
    round: (stopping) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      rounds.push({ stopping, end: resolve, fail: reject });
      return promise;
    },
    intervalMs: INTERVAL_MS,
    onError: (cause) => errors.push(cause),
  });
  const watched = { loop, errors, rounds };
  open.push(watched);
  return watched;
}

/** Lets all settled promises run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});

afterEach(async () => {
  for (const { loop, rounds } of open) {
    const stopped = loop.stop();
    for (const { end } of rounds) end();
    await stopped;
  }
  open = [];
  vi.useRealTimers();
});

test('no round begins before a wake-up or the end of the interval', async () => {
  const { rounds } = watchedLoop();
  vi.advanceTimersByTime(INTERVAL_MS - 1);
  await settle();
  expect(rounds).toHaveLength(0);
  vi.advanceTimersByTime(1);
  expect(rounds).toHaveLength(1);
});

test('a moment in the past wakes it at once, without a warning', async () => {
  const warnings: unknown[] = [];
  const heard = (warning: unknown) => warnings.push(warning);
  process.on('warning', heard);
  const { loop, rounds } = watchedLoop();
  loop.wakeIn(-250);
  await expect.poll(() => rounds.length).toBe(1);
  process.off('warning', heard);
  expect(warnings).toEqual([]);
});

test('rounds never overlap: wake-ups and intervals during a round lead to one more', async () => {
  const { loop, rounds } = watchedLoop();
  loop.wake();
  for (let time = 0; time < 10; time++) loop.wake();
  vi.advanceTimersByTime(5 * INTERVAL_MS);
  await settle();
  expect(rounds).toHaveLength(1);
  rounds[0]?.end();
  await settle();
  expect(rounds).toHaveLength(2);
  rounds[1]?.end();
  await settle();
  expect(rounds).toHaveLength(2);
});

test('a failed round is reported, and repeated at the next interval', async () => {
  const { loop, rounds, errors } = watchedLoop();
  const failure = new Error('for a while');
  loop.wake();
  rounds[0]?.fail(failure);
  await settle();
  expect(errors).toEqual([failure]);
  expect(rounds).toHaveLength(1);
  vi.advanceTimersByTime(INTERVAL_MS);
  expect(rounds).toHaveLength(2);
});

test('a wake-up at any moment during the end of a round is not lost', async () => {
  for (let steps = 0; steps <= 20; steps++) {
    const { loop, rounds } = watchedLoop();
    loop.wake();
    rounds[0]?.end();
    // The promises at the end of a round settle one after the other, in separate microtasks.
    for (let step = 0; step < steps; step++) await null;
    loop.wake();
    await settle();
    expect(rounds, `woken after ${steps} steps`).toHaveLength(2);
  }
});

test('a stop aborts the running round, waits for it, and begins no other', async () => {
  const { loop, rounds } = watchedLoop();
  loop.wake();
  loop.wake();
  expect(rounds[0]?.stopping.aborted).toBe(false);
  let stopped = false;
  const stopping = loop.stop().then(() => {
    stopped = true;
  });
  await settle();
  expect([stopped, rounds[0]?.stopping.aborted]).toEqual([false, true]);
  rounds[0]?.end();
  await stopping;
  loop.wake();
  vi.advanceTimersByTime(5 * INTERVAL_MS);
  await settle();
  expect(rounds).toHaveLength(1);
});
