/**
 * A run may stop at any of its operations: the storage fails without or with effect, or the process dies. A later round
 * of another process comes to the same observations, with one upload.
 */
import { describe, expect, test } from 'vitest';
import type { SourceDependencies } from '../../lambdas/sources/run/dependencies.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { RUN_WORK } from '../../storage/records/sources.ts';
import { metalsCsv } from './example-recipe.ts';
import { ok, openSourceWorld, type SourceWorld } from './source-world.ts';

const FILE = metalsCsv(['gold', '2026-11-18', '4129.10'], ['silver', '2026-11-18', '50.20']);
const EXPECTED = ['gold-usd 2026-11-18 412910', 'silver-usd 2026-11-18 5020'];

class Died extends Error {}

type Fault = 'fails without effect' | 'fails after its effect' | 'is the last one of its process';

const PORTS = ['ledger', 'archive', 'uploads'] as const;

/** The ports of a process whose operation number `at` has the fault, and what became of the process. */
function faultyPorts(at: number, fault: Fault) {
  const seen = { operations: [] as string[] };
  let isDead = false;
  const wrap = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get: (target, method) => {
        const call = Reflect.get(target, method) as unknown;
        if (typeof call !== 'function') return call;
        return async (...args: unknown[]) => {
          if (isDead) throw new Died();
          const number = seen.operations.push(`${name}.${String(method)}`) - 1;
          if (number !== at) return await call.apply(target, args);
          if (fault !== 'fails without effect') await call.apply(target, args);
          if (fault !== 'is the last one of its process') throw new StorageUnavailable('injected');
          isDead = true;
          throw new Died();
        };
      },
    });
  return { seen, wrap };
}

async function undisturbed(): Promise<SourceWorld> {
  const world = openSourceWorld();
  await world.add();
  world.answers = [ok(FILE, { etag: '"one"' })];
  world.api.nowMs = Date.parse('2026-11-20T16:30:00Z');
  return world;
}

/** Two rounds of a process with one fault, with the worker in between; then others, until nothing is left. */
async function disturbed(at: number, fault: Fault): Promise<{ world: SourceWorld; operations: readonly string[] }> {
  const world = await undisturbed();
  const { seen, wrap } = faultyPorts(at, fault);
  const ports = Object.fromEntries(PORTS.map((name) => [name, wrap(name, world.ports[name])]));
  const other = { ...ports, owner: 'the process that fails' } as unknown as Partial<SourceDependencies>;
  for (let rounds = 0; rounds < 2; rounds++) {
    await world.round(other).catch((error: unknown) => {
      if (!(error instanceof Died || error instanceof StorageUnavailable)) throw error;
    });
    await world.work();
    world.api.nowMs += 1_000;
  }
  // Its lease ends.
  world.api.nowMs += 20 * 60_000;
  await world.settle();
  return { world, operations: seen.operations };
}

const { operations } = await disturbed(-1, 'fails without effect');

describe.each<Fault>(['fails without effect', 'fails after its effect', 'is the last one of its process'])(
  'an operation that %s',
  (fault) => {
    test.each(operations.map((what, at) => [at, what] as const))('number %i, %s', async (at) => {
      const { world } = await disturbed(at, fault);
      expect(await world.observations()).toEqual(EXPECTED);
      const runs = await world.runs();
      expect(runs.filter(({ outcome }) => outcome === 'taken-in')).toHaveLength(1);
      expect(runs.filter(({ upload }) => upload !== null)).toHaveLength(1);
      expect(runs.every(({ state }) => state === 'ended')).toBe(true);
      expect(await readAll(world.api.ledger, RUN_WORK)).toEqual([]);
      expect(await world.state()).toMatchObject({ run: null, nextRunAt: '2026-11-21T16:30:00.000Z' });
    });
  },
);

test('there are enough operations to be disturbed', () => {
  expect(operations.length).toBeGreaterThan(25);
  expect(new Set(operations)).toEqual(
    new Set([
      ...['ledger.query', 'ledger.get', 'ledger.getMany', 'ledger.transact'],
      ...['archive.put', 'archive.get', 'uploads.head', 'uploads.put'],
    ]),
  );
});

test('after a failure of storage, any process continues the run within some minutes', async () => {
  const world = await undisturbed();
  const put = async () => {
    throw new StorageUnavailable('injected');
  };
  await world.round({ owner: 'a function', uploads: { ...world.ports.uploads, put } });
  world.api.nowMs += 2 * 60_000;
  await world.settle();
  expect(await world.runs()).toMatchObject([{ outcome: 'taken-in' }]);
});

describe('several processes at once', () => {
  test('make one run, ask the source once, and send one upload', async () => {
    const world = await undisturbed();
    for (let rounds = 0; rounds < 4; rounds++) {
      const owners = ['one', 'two', 'three'];
      await Promise.all(owners.map((owner) => world.round({ owner })));
      await world.work();
      world.api.nowMs += 1_000;
    }
    expect(world.requests).toHaveLength(1);
    expect(await world.runs()).toMatchObject([{ outcome: 'taken-in' }]);
    expect(await world.observations()).toEqual(EXPECTED);
  });

  test('a process that has lost its lease while it fetched changes nothing', async () => {
    const world = await undisturbed();
    const slow = world.round({
      owner: 'slow',
      ask: async () => {
        // Another process has taken the run over, and has ended it.
        world.api.nowMs += 20 * 60_000;
        await world.settle();
        return ok(metalsCsv(['gold', '2026-11-18', '1']));
      },
    });
    await slow;
    await world.settle();
    expect(await world.runs()).toMatchObject([{ outcome: 'taken-in' }]);
    expect(await world.observations()).toEqual(EXPECTED);
  });
});
