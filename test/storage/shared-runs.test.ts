import { expect, test } from 'vitest';
import { sharedRuns } from '../../storage/concurrency/key-queue.ts';

test('each call is answered by a run that begins after it, calls that wait share one, and a failure ends nothing', async () => {
  const shared = sharedRuns();
  const written: number[] = [];
  let durable: readonly number[] = [];
  let runs = 0;
  let isFailing = false;
  const write = async (value: number) => {
    written.push(value);
    await shared('folder', async () => {
      runs++;
      const begun = [...written];
      await new Promise(setImmediate);
      if (isFailing) throw new Error('no disk');
      durable = begun;
    });
    expect(durable).toContain(value);
  };
  const first = [1, 2, 3].map(write);
  await new Promise(process.nextTick);
  expect(runs).toBe(1);
  await Promise.all([...first, ...[4, 5, 6].map(write)]);
  expect(runs).toBe(2);

  isFailing = true;
  await expect(write(7)).rejects.toThrow('no disk');
  isFailing = false;
  await write(8);
});

test('runs of other keys go on at the same time', async () => {
  const shared = sharedRuns();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stuck = shared('one', () => promise);
  await shared('other', async () => undefined);
  resolve();
  await stuck;
});
