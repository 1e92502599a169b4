/** The queue: every item is run to its end in order, and one that fails holds up no other. */
import { describe, expect, test } from 'vitest';
import { runWork, type WorkDependencies } from '../../lambdas/worker/run-work.ts';
import { type WorkValue, workKey } from '../../storage/batch-records.ts';
import { type Ledger, StorageCorrupt, StorageUnavailable } from '../../storage/ledger.ts';
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
  readonly dependencies: WorkDependencies;
}

/** `fails` says what a run of the item, counted from 1, throws; without it the item is done. */
function bench(fails: (id: string, run: number) => unknown = () => null): Bench {
  const ledger = openRecordedLedger();
  const runs: string[] = [];
  const failures: [string, unknown][] = [];
  const done = async (id: string) => {
    runs.push(id);
    const error = fails(id, runs.filter((run) => run === id).length);
    if (error) throw error;
    const change = { kind: 'delete', key: workKey(id), if: { kind: 'any' } } as const;
    await ledger.transact([change], { attemptId: `attempt-${++attempts}` });
  };
  const runners = {
    ingest: ({ batch }: { batch: string }) => done(batch),
    erasure: ({ erasure }: { erasure: string }) => done(erasure),
  };
  const failed: WorkDependencies['failed'] = (item, error) => failures.push([item.sort, error]);
  return { ledger, runs, failures, dependencies: { ledger, runners, failed } };
}

describe('a run of the queue', () => {
  test('does everything on it in order, each by the runner of its kind', async () => {
    const { ledger, runs, dependencies } = bench();
    await queue(ledger, 'b', 'c', 'a');
    expect(await runWork(dependencies)).toEqual({ done: 3, failed: 0 });
    expect(runs).toEqual(['a', 'b', 'c']);
    expect(await queuedWork(ledger)).toEqual([]);
  });

  test('of nothing does nothing', async () => {
    expect(await runWork(bench().dependencies)).toEqual({ done: 0, failed: 0 });
  });

  test('goes on past a page', async () => {
    const { ledger, dependencies } = bench();
    await queue(ledger, ...Array.from({ length: 230 }, (_, index) => String(index).padStart(3, '0')));
    expect(await runWork(dependencies)).toEqual({ done: 230, failed: 0 });
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
    expect(await runWork(dependencies)).toEqual({ done: 1, failed: 1 });
    expect(runs).toEqual(['a', 'b']);
    expect(failures).toEqual([['a', broken]]);
    expect(await queuedWork(ledger)).toEqual(['a']);
  });

  test('tries an item again when storage did not answer', async () => {
    const { ledger, failures, dependencies } = bench((_, run) => (run < 3 ? new StorageUnavailable('busy') : null));
    await queue(ledger, 'a');
    expect(await runWork(dependencies)).toEqual({ done: 1, failed: 0 });
    expect(failures).toEqual([]);
  });

  test('but not for ever', async () => {
    const { ledger, runs, dependencies } = bench((id) => (id === 'a' ? new StorageUnavailable('busy') : null));
    await queue(ledger, 'a', 'b');
    expect(await runWork(dependencies)).toEqual({ done: 1, failed: 1 });
    expect(runs.filter((id) => id === 'a').length).toBeLessThan(10);
    expect(await queuedWork(ledger)).toEqual(['a']);
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
    expect(await runWork(dependencies)).toEqual({ done: 0, failed: 1 });
    expect(failures).toHaveLength(1);
    expect(await queuedWork(ledger)).toEqual(['x']);
  });
});
