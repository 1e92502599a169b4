/** The queue: every item is run to its end in order; what only a person can mend holds up no other, what passes does. */
import { describe, expect, test } from 'vitest';
import { Contended } from '../../lambdas/markets/commit-markets.ts';
import { runWork, type WorkDependencies } from '../../lambdas/worker/run-work.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/errors.ts';
import type { Ledger } from '../../storage/ledger.ts';
import { type WorkValue, workKey } from '../../storage/records/batches.ts';
import { queuedWork } from './queued-batch.ts';
import { openRecordedLedger } from './recorded-ledger.ts';

let attempts = 0;

async function queue(ledger: Ledger, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const value: WorkValue = { kind: 'ingest', batch: id };
    const change = { kind: 'put', key: workKey(id), revision: 0, value, if: { kind: 'any' } } as const;
    await ledger.transact([change], { attemptId: `attempt-${++attempts}` });
  }
}

interface Bench {
  readonly ledger: Ledger;
  /** The ids of the items that runners were given, in order. */
  readonly runs: string[];
  readonly failures: [string, unknown][];
  /** How long it waited before another try, in milliseconds. */
  readonly pauses: number[];
  readonly dependencies: WorkDependencies;
}

/** `fails` says what a run of the item, counted from 1, throws, or that it is not due; without it the item is done. */
function bench(fails: (id: string, run: number) => unknown = () => null): Bench {
  const ledger = openRecordedLedger();
  const runs: string[] = [];
  const failures: [string, unknown][] = [];
  const pauses: number[] = [];
  const pause = async (milliseconds: number) => void pauses.push(milliseconds);
  const done = async (id: string) => {
    runs.push(id);
    const error = fails(id, runs.filter((run) => run === id).length);
    if (error === 'later') return error;
    if (error) throw error;
    const change = { kind: 'delete', key: workKey(id), if: { kind: 'any' } } as const;
    await ledger.transact([change], { attemptId: `attempt-${++attempts}` });
    return 'done';
  };
  const runners = {
    ingest: ({ batch }: { batch: string }) => done(batch),
    erasure: ({ erasure }: { erasure: string }) => done(erasure),
  };
  const failed: WorkDependencies['failed'] = (item, error) => failures.push([item.sort, error]);
  return { ledger, runs, failures, pauses, dependencies: { ledger, runners, failed, pause, random: () => 0.5 } };
}

describe('a run of the queue', () => {
  test('does everything on it in order, each by the runner of its kind', async () => {
    const { ledger, runs, dependencies } = bench();
    await queue(ledger, 'b', 'c', 'a');
    expect(await runWork(dependencies)).toEqual({ done: 3, failed: 0, later: 0 });
    expect(runs).toEqual(['a', 'b', 'c']);
    expect(await queuedWork(ledger)).toEqual([]);
  });

  test('of nothing does nothing', async () => {
    expect(await runWork(bench().dependencies)).toEqual({ done: 0, failed: 0, later: 0 });
  });

  test('goes on past a page', async () => {
    const { ledger, dependencies } = bench();
    await queue(ledger, ...Array.from({ length: 230 }, (_, index) => String(index).padStart(3, '0')));
    expect(await runWork(dependencies)).toEqual({ done: 230, failed: 0, later: 0 });
  });

  test('does what is queued while it runs, also before where it stands', async () => {
    const { ledger, runs, dependencies } = bench((id, run) => {
      if (id === 'b' && run === 1) void queue(ledger, 'a', 'z');
      return null;
    });
    await queue(ledger, 'b');
    await runWork(dependencies);
    expect(runs.toSorted()).toEqual(['a', 'b', 'z']);
  });

  test('leaves an item that fails on the queue, tells of it once, and does the others', async () => {
    const broken = new StorageCorrupt('damaged');
    const { ledger, runs, failures, dependencies } = bench((id) => (id === 'a' ? broken : null));
    await queue(ledger, 'a', 'b');
    expect(await runWork(dependencies)).toEqual({ done: 1, failed: 1, later: 0 });
    expect(runs).toEqual(['a', 'b']);
    expect(failures).toEqual([['a', broken]]);
    expect(await queuedWork(ledger)).toEqual(['a']);
  });

  describe.each([
    ['storage does not answer', new StorageUnavailable('busy')],
    ['others are in the way', new Contended('busy')],
  ])('when %s', (_, busy) => {
    test('tries the item again, each time after a longer pause', async () => {
      const { ledger, failures, pauses, dependencies } = bench((_id, run) => (run < 3 ? busy : null));
      await queue(ledger, 'a');
      expect(await runWork(dependencies)).toEqual({ done: 1, failed: 0, later: 0 });
      expect(failures).toEqual([]);
      expect(pauses).toEqual([300, 600]);
    });

    test('does nothing that comes after an item before it: the run ends, and the next one begins with it', async () => {
      const { ledger, runs, failures, dependencies } = bench((id, run) => (id === 'b' && run <= 3 ? busy : null));
      await queue(ledger, 'a', 'b', 'c');
      await expect(runWork(dependencies)).rejects.toBe(busy);
      expect(runs).toEqual(['a', 'b', 'b', 'b']);
      expect(failures).toEqual([]);
      expect(await runWork(dependencies)).toEqual({ done: 2, failed: 0, later: 0 });
      expect(runs.slice(4)).toEqual(['b', 'c']);
    });
  });

  test('leaves an item that is not due on the queue, neither done nor failed, and does the others', async () => {
    const { ledger, runs, failures, pauses, dependencies } = bench((id, run) =>
      id === 'a' && run < 3 ? 'later' : null,
    );
    await queue(ledger, 'a', 'b');
    expect(await runWork(dependencies)).toEqual({ done: 1, failed: 0, later: 1 });
    expect(await runWork(dependencies)).toEqual({ done: 0, failed: 0, later: 1 });
    expect(await runWork(dependencies)).toEqual({ done: 1, failed: 0, later: 0 });
    expect([runs, failures, pauses]).toEqual([['a', 'b', 'a', 'a'], [], []]);
  });

  test('tells of work of a kind that it does not know, and leaves it', async () => {
    const { ledger, failures, dependencies } = bench();
    const change = {
      kind: 'put',
      key: workKey('x'),
      revision: 0,
      value: { kind: 'toString' },
      if: { kind: 'any' },
    } as const;
    await ledger.transact([change], { attemptId: 'newer' });
    expect(await runWork(dependencies)).toEqual({ done: 0, failed: 1, later: 0 });
    expect(failures).toHaveLength(1);
    expect(await queuedWork(ledger)).toEqual(['x']);
  });
});
