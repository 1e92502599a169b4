/** The queue: in each lane, work is done in order by one worker at a time. No lane waits for another one. */
import { setImmediate } from 'node:timers/promises';
import { ulid } from 'ulid';
import { describe, expect, test } from 'vitest';
import { Contended } from '../../lambdas/worker/contended.ts';
import { LEASE_MS, type WorkItem } from '../../lambdas/worker/leases.ts';
import { runWork, type WorkDependencies } from '../../lambdas/worker/run-work.ts';
import { FormatTooNew, StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { type Task, WORK_QUEUE, type WorkValue, workIdOf, workKey } from '../../storage/records/batches.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { deleteItem, putItem } from '../storage/put-item.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { queuedWork } from './queued-batch.ts';

const START_MS = Date.parse('2026-10-01T12:00:00Z');

let attempts = 0;
const newAttemptId = () => `attempt-${++attempts}`;

function taskOf(id: string): Task {
  if (id.startsWith('upl')) return { kind: 'upload', upload: id };
  return id.startsWith('era') ? { kind: 'erasure', erasure: id } : { kind: 'ingest', batch: id };
}

/** Batches are queued as `<lane>/<id>`. Any other item is a lane of its own. */
async function queue(ledger: Ledger, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [lane, id = lane] = name.split('/') as [string, string?];
    const value: WorkValue = { ...taskOf(id), lane, lease: null };
    await putItem(ledger, workKey(id, lane), value);
  }
}

/** The result of an item: null is done, an outcome is returned, any other value is thrown. */
type Fate = (id: string, run: number) => unknown;

interface Bench {
  readonly ledger: Ledger;
  readonly clock: { nowMs: number };
  /** The ids of the items that were run, in order. */
  readonly runs: string[];
  readonly failures: [string, unknown][];
  /** The pauses before other tries, in milliseconds. */
  readonly pauses: number[];
  readonly dependencies: WorkDependencies;
  /** Another worker of the same queue. */
  worker(owner: string, more?: Partial<WorkDependencies>): WorkDependencies;
}

function bench(fate: Fate = () => null): Bench {
  const ledger = openMemoryLedger();
  const clock = { nowMs: START_MS };
  const runs: string[] = [];
  const failures: [string, unknown][] = [];
  const pauses: number[] = [];
  const run = async (item: WorkItem) => {
    const id = workIdOf(item);
    runs.push(id);
    const outcome = await fate(id, runs.filter((other) => other === id).length);
    if (outcome === 'later') return outcome;
    if (outcome === 'more') return { more: [] };
    if (outcome) throw outcome;
    const change = { kind: 'delete', key: workKey(id, item.value.lane), if: { kind: 'any' } } as const;
    await ledger.transact([change], { attemptId: newAttemptId() });
    return 'done';
  };
  const worker = (owner: string, more: Partial<WorkDependencies> = {}): WorkDependencies => ({
    ledger,
    owner,
    nowMs: () => clock.nowMs,
    newAttemptId,
    runners: { ingest: run, erasure: run, refresh: run, upload: run },
    failed: (item, error) => failures.push([workIdOf(item), error]),
    pause: async (milliseconds) => void pauses.push(milliseconds),
    random: () => 0,
    ...more,
  });
  return { ledger, clock, runs, failures, pauses, dependencies: worker('one', { random: () => 0 }), worker };
}

const DONE = { done: 0, failed: 0, later: 0, nextAtMs: null };

/** The number of leased items. */
async function leased(ledger: Ledger): Promise<number> {
  return (await readAll(ledger, WORK_QUEUE)).filter(({ value }) => value.lease !== null).length;
}

describe('a run of the queue', () => {
  test('says how long batches have waited, by the time in their ids; other ids hold nothing up', async () => {
    const { ledger, clock, worker } = bench();
    await queue(ledger, `alice/bat_${ulid(clock.nowMs - 60_000)}`, 'bob/b', 'era');
    const waits: number[] = [];
    expect(await runWork(worker('one', { waited: (ms) => waits.push(ms) }))).toMatchObject({ done: 3 });
    expect([...new Set(waits)]).toEqual([60_000]);
  });

  test('ends, and gives its leases back, when a later version has migrated the ledger meanwhile', async () => {
    const { ledger, runs, worker } = bench(async () => {
      const value = { format: LEDGER_FORMAT + 1 };
      await putItem(ledger, FORMAT_KEY, value, value.format);
      return null;
    });
    await queue(ledger, 'alice/a', 'bob/b', 'era');
    const work = runWork(worker('one', { checkFormat: () => checkFormat(ledger) }));
    await expect(work).rejects.toThrow(FormatTooNew);
    expect([runs.length, await leased(ledger)]).toEqual([1, 0]);
  });

  test.each([
    [1, 1],
    [3, 3],
    [9, 5],
  ])('with %i lanes at once, works on %i of five, and on each in order', async (transactionsAtOnce, most) => {
    let running = 0;
    const seen: number[] = [];
    const { ledger, runs, worker } = bench(async () => {
      seen.push(++running);
      await setImmediate();
      running--;
      return null;
    });
    const lanes = ['a', 'b', 'c', 'd', 'e'];
    await queue(ledger, ...lanes.flatMap((lane) => [1, 2, 3, 4].map((item) => `${lane}/${lane}${item}`)));
    expect(await runWork(worker('one', { transactionsAtOnce }))).toEqual({ ...DONE, done: 20 });
    expect(Math.max(...seen)).toBe(most);
    for (const lane of lanes) {
      expect(runs.filter((id) => id.startsWith(lane))).toEqual([1, 2, 3, 4].map((item) => `${lane}${item}`));
    }
    expect(await leased(ledger)).toBe(0);
  });

  test('of several lanes at once, one failure of storage ends all, after the others have ended', async () => {
    const { ledger, runs, worker } = bench(async (id) => {
      if (id === 'a') return new StorageUnavailable('down');
      await setImmediate();
      return null;
    });
    await queue(ledger, 'alice/a', 'bob/b', 'carol/c');
    await expect(runWork(worker('one', { transactionsAtOnce: 3 }))).rejects.toThrow(StorageUnavailable);
    expect([runs.includes('b'), runs.includes('c'), await leased(ledger)]).toEqual([true, true, 0]);
    expect(await queuedWork(ledger)).toHaveLength(1);
  });

  test.each([300, 3_000])('reads as much of a queue with %i items waiting as of any other', async (waiting) => {
    const { ledger, worker } = bench();
    await queue(ledger, ...Array.from({ length: waiting }, (_, index) => `lane-${index % 20}/b${index + 10_000}`));
    let read = 0;
    const counting = wrappedLedger(ledger, {
      query: async (partition, options) => {
        const page = await ledger.query(partition, options);
        read += page.items.length;
        return page;
      },
    });
    let steps = 0;
    await runWork({ ...worker('one'), ledger: counting, hasTime: () => steps++ < 10 });
    expect(read).toBeLessThanOrEqual(2 * (16 + 8) * 25);
  });

  test('takes each of a thousand lanes before any of them a second time', async () => {
    const { ledger, runs, worker } = bench();
    await queue(ledger, ...Array.from({ length: 1_000 }, (_, index) => `l${index}/a${index}`));
    await queue(ledger, ...Array.from({ length: 30 }, (_, index) => `l7/b${index + 10}`));
    await runWork(worker('one', { random: () => 0.4 }));
    expect(runs.toSorted()).toEqual([...new Set(runs)].toSorted());
    expect(runs).toHaveLength(1_030);
    expect(await queuedWork(ledger)).toEqual([]);
    expect(runs.filter((id) => id.startsWith('b'))).toEqual(Array.from({ length: 30 }, (_, index) => `b${index + 10}`));
  });

  test('leaves work that it has no time for, and gives back its leases', async () => {
    let steps = 0;
    const { ledger, runs, worker } = bench();
    await queue(ledger, 'alice/a', 'alice/b', 'bob/c', 'upl');
    expect(await runWork(worker('one', { hasTime: () => steps++ < 1 }))).toMatchObject({ done: 1 });
    expect(runs).toEqual(['a']);
    expect(await leased(ledger)).toBe(0);
    expect(await runWork(worker('two'))).toEqual({ ...DONE, done: 3 });
  });

  test('reports work of an unknown kind, and leaves it', async () => {
    const { ledger, failures, dependencies } = bench();
    await putItem(ledger, { ...workKey('x') }, { kind: 'toString', lane: 'x', lease: null } as never);
    expect(await runWork(dependencies)).toEqual({ ...DONE, failed: 1 });
    expect(failures).toHaveLength(1);
    expect(await queuedWork(ledger)).toEqual(['x']);
  });
});

describe('large work', () => {
  const parts = (count: number) => (id: string, run: number) => (id.startsWith('upl') && run < count ? 'more' : null);

  test('is done in parts; several items take turns of some seconds each', async () => {
    const { ledger, clock, runs, worker } = bench((id, run) => {
      clock.nowMs += 1_000;
      return parts(5)(id, run);
    });
    await queue(ledger, 'upl-1', 'upl-2');
    expect(await runWork(worker('one'))).toEqual({ ...DONE, done: 2 });
    const turns = runs.map((id, index) => id !== runs[index - 1] && id).filter((id) => id !== false);
    const [first, second] = turns;
    expect(turns).toEqual([first, second, first, second]);
    expect(runs).toHaveLength(10);
  });

  test('comes after all batches, also after one that is queued between two parts', async () => {
    const { ledger, runs, dependencies } = bench(async (id, run) => {
      if (id === 'upl' && run === 2) await queue(ledger, 'alice/b', 'bob/c');
      return parts(4)(id, run);
    });
    await queue(ledger, 'upl', 'alice/a');
    await runWork(dependencies);
    expect(runs).toEqual(['a', 'upl', 'upl', 'c', 'b', 'upl', 'upl']);
  });

  test('gets one part done in each second, with any number of batches', async () => {
    const { ledger, clock, runs, worker } = bench(async (id, run) => {
      clock.nowMs += 300;
      return parts(9)(id, run);
    });
    await queue(ledger, 'upl', ...Array.from({ length: 20 }, (_, index) => `alice/a${index}`));
    await runWork(worker('one'));
    expect(runs.slice(0, 10).filter((id) => id === 'upl')).toHaveLength(2);
  });
});

describe('an item that fails', () => {
  test('is reported once and left on the queue: it delays its own lane, and no other', async () => {
    const broken = new StorageCorrupt('damaged');
    const { ledger, runs, failures, dependencies } = bench((id) => (id === 'a' ? broken : null));
    await queue(ledger, 'alice/a', 'alice/b', 'bob/c', 'era');
    expect(await runWork(dependencies)).toEqual({ ...DONE, done: 2, failed: 1 });
    expect(runs.toSorted()).toEqual(['a', 'c', 'era']);
    expect(failures).toEqual([['a', broken]]);
    expect(await queuedWork(ledger)).toEqual(['a', 'b']);
    expect(await leased(ledger)).toBe(0);
  });

  test('after its end delays nothing', async () => {
    const broken = new StorageCorrupt('damaged');
    const { ledger, runs, failures, dependencies } = bench(async (id) => {
      if (id !== 'a') return null;
      await deleteItem(ledger, workKey('a', 'alice'));
      return broken;
    });
    await queue(ledger, 'alice/a', 'alice/b', 'alice/c');
    expect(await runWork(dependencies)).toEqual({ ...DONE, done: 2, failed: 1 });
    expect(runs).toEqual(['a', 'b', 'c']);
    expect(failures).toEqual([['a', broken]]);
  });

  describe.each([
    ['storage does not answer', new StorageUnavailable('busy')],
    ['other writers are busy', new Contended('busy')],
  ])('because %s', (_, busy) => {
    test('is tried again, each time after a longer pause', async () => {
      const { ledger, failures, pauses, worker } = bench((_id, run) => (run < 3 ? busy : null));
      await queue(ledger, 'alice/a');
      expect(await runWork(worker('one', { random: () => 0.5 }))).toEqual({ ...DONE, done: 1 });
      expect(failures).toEqual([]);
      expect(pauses).toEqual([300, 600]);
    });

    test('permanently delays its lane, and the next run begins with it', async () => {
      const { ledger, runs, dependencies } = bench((id, run) => (id === 'b' && run <= 3 ? busy : null));
      await queue(ledger, 'alice/a', 'alice/b', 'alice/c');
      await runWork(dependencies).catch((error: unknown) => expect(error).toBe(busy));
      expect(runs).toEqual(['a', 'b', 'b', 'b']);
      expect(await leased(ledger)).toBe(0);
      expect(await runWork(dependencies)).toEqual({ ...DONE, done: 2 });
      expect(runs.slice(4)).toEqual(['b', 'c']);
    });
  });

  test('is tried again within some minutes, even if other lanes have new work all the time', async () => {
    const { ledger, clock, runs, dependencies } = bench(async (id, run) => {
      if (id === 'a') return run <= 3 ? new Contended('busy') : null;
      clock.nowMs += 1_000;
      const isDone = runs.length > 500 || (await ledger.get(workKey('a', 'alice'))) === null;
      if (!isDone) await queue(ledger, `bob/b${runs.length + 1_000}`);
      return null;
    });
    await queue(ledger, 'alice/a', 'bob/b');
    await runWork(dependencies);
    expect(clock.nowMs - START_MS).toBeLessThan(3 * 60_000);
    expect(await queuedWork(ledger)).toEqual([]);
  });

  test('because other writers are busy is reported, and the other lanes are done', async () => {
    const busy = new Contended('busy');
    const { ledger, failures, dependencies } = bench((id) => (id === 'a' ? busy : null));
    await queue(ledger, 'alice/a', 'bob/b');
    expect(await runWork(dependencies)).toEqual({ ...DONE, done: 1, failed: 1 });
    expect(failures).toEqual([['a', busy]]);
  });
});

describe('an item that is not due', () => {
  test('is left on the queue, neither done nor failed, and delays no other lane', async () => {
    const { ledger, runs, failures, pauses, dependencies } = bench((id, run) =>
      id === 'era' && run < 3 ? 'later' : null,
    );
    await queue(ledger, 'era', 'alice/b');
    expect(await runWork(dependencies)).toEqual({ ...DONE, done: 1, later: 1 });
    expect(await runWork(dependencies)).toEqual({ ...DONE, later: 1 });
    expect(await runWork(dependencies)).toEqual({ ...DONE, done: 1 });
    expect([runs, failures, pauses]).toEqual([['b', 'era', 'era', 'era'], [], []]);
  });

  test('because of its lease is not run earlier, and the run says when to come back', async () => {
    const { ledger, clock, runs, dependencies } = bench();
    const lease = { owner: null, untilMs: START_MS + 35_000 };
    const value: WorkValue = { kind: 'erasure', erasure: 'era', lane: 'era', lease };
    await putItem(ledger, workKey('era'), value);
    expect(await runWork(dependencies)).toEqual({ ...DONE, nextAtMs: START_MS + 35_000 });
    expect(runs).toEqual([]);
    clock.nowMs += 35_000;
    expect(await runWork(dependencies)).toEqual({ ...DONE, done: 1 });
  });
});

describe('several workers', () => {
  test('never work on one item, nor on two of one lane', async () => {
    const active = new Map<string, string>();
    const lanes = ['alice', 'bob', 'carol'];
    const { ledger, runs, worker } = bench(async (id) => {
      const lane = lanes.find((name) => name.startsWith(id.slice(0, 1))) ?? id;
      expect(active.get(lane), `${lane} was worked on`).toBeUndefined();
      active.set(lane, id);
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      active.delete(lane);
      return null;
    });
    const names = lanes.flatMap((lane) => Array.from({ length: 15 }, (_, index) => `${lane}/${lane[0]}${index + 10}`));
    await queue(ledger, ...names);
    const chances = [0, 0.2, 0.4, 0.6, 0.8];
    const outcomes = await Promise.all(
      chances.map((chance, number) => runWork(worker(`worker-${number}`, { random: () => chance }))),
    );
    expect(outcomes.reduce((sum, { done }) => sum + done, 0)).toBe(45);
    for (const lane of lanes) {
      const own = runs.filter((id) => id.startsWith(lane.slice(0, 1)));
      expect(own).toEqual(own.toSorted());
      expect(own).toHaveLength(15);
    }
  });

  test('take a lane whose worker has died, once its lease has ended', async () => {
    const died = new Error('died');
    const { ledger, clock, runs, worker } = bench();
    await queue(ledger, 'alice/a', 'alice/b');
    let isDead = false;
    const dying: Ledger = {
      ...ledger,
      transact: async (changes, options) => {
        if (isDead) throw died;
        const result = await ledger.transact(changes, options);
        isDead = true;
        return result;
      },
    };
    const runner = () => Promise.reject(new StorageUnavailable('died'));
    const runners = { ingest: runner, erasure: runner, refresh: runner, upload: runner };
    await expect(runWork(worker('one', { ledger: dying, runners }))).rejects.toThrow(StorageUnavailable);
    expect(await leased(ledger)).toBe(1);
    clock.nowMs += LEASE_MS - 1;
    expect(await runWork(worker('two'))).toEqual({ ...DONE, nextAtMs: START_MS + LEASE_MS });
    clock.nowMs += 1;
    expect(await runWork(worker('two'))).toEqual({ ...DONE, done: 2 });
    expect(runs).toEqual(['a', 'b']);
  });

  test('renew a lease before its end, so that no other worker takes the work between two parts', async () => {
    const { ledger, clock, worker } = bench(async (_id, run) => {
      clock.nowMs += LEASE_MS * 0.4;
      expect(await runWork(worker('two'))).toMatchObject({ done: 0, later: 0 });
      return run < 10 ? 'more' : null;
    });
    await queue(ledger, 'upl');
    expect(await runWork(worker('one'))).toEqual({ ...DONE, done: 1 });
  });

  describe('leave work alone whose markets another worker is writing to', () => {
    /** A batch of many rows about these markets. */
    async function queueBroad(ledger: Ledger, name: string, ...touches: string[]): Promise<void> {
      const [lane = '', id = ''] = name.split('/');
      const value: WorkValue = { kind: 'ingest', batch: id, lane, lease: null, touches };
      await putItem(ledger, workKey(id, lane), value);
    }

    test.each<[string, readonly string[], readonly string[], boolean]>([
      ['a market in common', ['gold'], ['gold', 'tin'], false],
      ['other markets', ['gold'], ['tin'], true],
      ['no market, because the work is small', ['gold'], [], true],
      ['too many markets to name', ['gold'], ['*'], false],
    ])('with %s', async (_, first, second, isTaken) => {
      const { ledger, runs, worker } = bench(async (id) => {
        if (id === 'a') expect((await runWork(worker('two'))).done).toBe(isTaken ? 1 : 0);
        return null;
      });
      await queueBroad(ledger, 'alice/a', ...first);
      await queueBroad(ledger, 'bob/b', ...second);
      expect((await runWork(worker('one'))).done).toBe(isTaken ? 1 : 2);
      expect(runs).toEqual(['a', 'b']);
    });

    test('where the parts of an upload tell its markets', async () => {
      const { ledger, worker } = bench();
      const seen: unknown[][] = [];
      const upload = async () => {
        const items = await readAll(ledger, WORK_QUEUE);
        seen.push(items.map(({ value }) => value.touches ?? 'none'));
        if (seen.length < 3) return { more: [`market-${seen.length}`] };
        await deleteItem(ledger, workKey('upl'));
        return 'done' as const;
      };
      await queue(ledger, 'upl');
      const era = {
        kind: 'erasure',
        erasure: 'era',
        lane: 'era',
        lease: { owner: null, untilMs: START_MS + 1 },
      } as const;
      await putItem(ledger, workKey('era'), era);
      await runWork(worker('one', { runners: { ...worker('one').runners, upload } }));
      const ofUpload = seen.map((touches) => touches.filter((some) => some !== 'none'));
      expect(ofUpload).toEqual([[], [['market-1']], [['market-1', 'market-2']]]);
    });
  });
});
