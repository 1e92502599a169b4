import { describe, expect, test } from 'vitest';
import { Expectations } from '../../contract/freshness/late-sources.ts';
import { publish } from '../../publisher/publish.ts';
import { createHealth, type HealthOptions } from '../../server/service/health.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { type WorkValue, workKey } from '../../storage/records/batches.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { createWorld, market, price, type World } from '../publisher/world.ts';
import { putItem } from '../storage/put-item.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';

interface Watched {
  readonly world: World;
  readonly health: ReturnType<typeof createHealth>;
  readonly reports: string[];
  /** How often the ledger was written, and the store read. */
  readonly counts: { writes: number; reads: number };
  fail(part: 'read' | 'write' | 'objects' | null): void;
  readonly ready: { is: boolean };
}

const IDLE = {
  publishLagMs: () => 4_321,
  publishStalledMs: () => 0,
  publishFailure: () => null,
  expectations: () => null,
  lastVerify: () => null,
};

type Background = NonNullable<ReturnType<HealthOptions['background']>>;

async function watch(background: Partial<Background> = {}, more: Partial<HealthOptions> = {}): Promise<Watched> {
  const world = createWorld();
  await world.ingest([market('a'), market('b')]);
  await publish(world.dependencies);
  const reports: string[] = [];
  const counts = { writes: 0, reads: 0 };
  const ready = { is: true };
  let failing: 'read' | 'write' | 'objects' | null = null;
  const failIf = (part: typeof failing) => {
    if (failing === part) throw new StorageUnavailable('/secret/path is broken');
  };
  const health = createHealth({
    ledger: {
      query: (partition, options) => world.ledger.query(partition, options),
      async get(key) {
        failIf('read');
        return await world.ledger.get(key);
      },
    },
    checkWritable() {
      counts.writes++;
      failIf('write');
    },
    objects: {
      async stat(key) {
        counts.reads++;
        failIf('objects');
        return await world.objects.stat(key);
      },
    },
    nowMs: () => world.clock.nowMs,
    isReady: () => ready.is,
    background: () => ({ ...IDLE, ...background }),
    report: (what, cause) => reports.push(`${what}: ${cause}`),
    ...more,
  });
  return { world, health, reports, counts, ready, fail: (part) => (failing = part) };
}

const WELL = {
  generation: 1,
  publishLagSeconds: 4,
  marksDue: 0,
  deferred: 0,
  queue: 0,
  failingSources: 0,
  missedRuns: 0,
};

describe('the health of the service', () => {
  test('when it is well: the generation and everything that waits', async () => {
    const { world, health } = await watch();
    expect(await health()).toMatchObject({ healthy: true, body: { status: 'ok', ...WELL } });
    await world.ingest([price('a', 0, 5), price('b', 0, 5)]);
    world.clock.nowMs += 1_000;
    expect((await health()).body).toMatchObject({ marksDue: 2 });
  });

  test('fails once changes have waited for more than five minutes without a publication, until one succeeds', async () => {
    let stalledMs = 300_999;
    const { world, health, reports } = await watch({ publishStalledMs: () => stalledMs });
    expect(await health()).toMatchObject({ healthy: true });
    for (stalledMs of [301_000, 400_000]) {
      world.clock.nowMs += 1_000;
      const faults = [{ part: 'publishing', detail: expect.stringContaining('changes wait') }];
      expect(await health()).toMatchObject({ healthy: false, body: { status: 'failing', faults } });
    }
    expect(reports).toEqual([expect.stringContaining('nothing was published for 301 s')]);
    stalledMs = 0;
    world.clock.nowMs += 1_000;
    expect(await health()).toMatchObject({ healthy: true });
  });

  test.each([
    ['full', { code: 'ENOSPC' }],
    ['full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
    ['read-only', { code: 'EROFS' }],
    ['denies', { code: 'EPERM' }],
    ['read-only', { code: 'ERR_SQLITE_ERROR', errcode: 8 | (5 << 8) }],
    ['fails', { code: 'ERR_SQLITE_ERROR', errcode: 10 | (3 << 8) }],
  ])('fails at once if the last publication failed because the disk is %s: %j', async (words, cause) => {
    const inner = Object.assign(new Error('write /secret/path'), cause);
    let failure: Error | null = new StorageUnavailable('/secret/path cannot be used', { cause: inner });
    const { world, health, reports } = await watch({ publishFailure: () => failure });
    const { healthy, body } = await health();
    const detail = expect.stringMatching(`disk of the service .*${words}`);
    expect([healthy, body]).toEqual([false, expect.objectContaining({ faults: [{ part: 'publishing', detail }] })]);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(reports.length).toBe(1);
    for (failure of [new Error('another reason'), null]) {
      world.clock.nowMs += 1_000;
      expect(await health()).toMatchObject({ healthy: true });
    }
  });

  test.each([
    [
      'a firewall denies the connection to the target',
      Object.assign(new Error('connect'), { code: 'EPERM', syscall: 'connect' }),
    ],
    ['an error has a number for a code', Object.assign(new Error('exit'), { code: 13 })],
  ])('does not blame the disk if %s', async (_, cause) => {
    const failure = new StorageUnavailable('the target cannot be used', { cause });
    expect(await (await watch({ publishFailure: () => failure })).health()).toMatchObject({ healthy: true });
  });

  test('with the number of late sources, once the list was read', async () => {
    const source = { label: 'a', cadence: { graceSeconds: 0 }, expectedNextAt: '2020-01-01T00:00:00Z' } as never;
    const { health } = await watch({ expectations: () => new Expectations([{ sources: [source] }]) });
    expect((await health()).body).toMatchObject({ ...WELL, lateSources: 1 });
    expect((await (await watch()).health()).body).not.toHaveProperty('lateSources');
  });

  test('counts a long queue up to a thousand, however large its items are, and reads few more', async () => {
    const ledger = openSqliteLedger(':memory:');
    for (let id = 0; id < 2_000; id++) {
      const value: WorkValue = { kind: 'ingest', batch: 'b', lane: `${id}`, lease: null, touches: ['x'.repeat(5_000)] };
      await putItem(ledger, workKey(`${id}`, `${id}`), value);
    }
    let items = 0;
    const counting = wrappedLedger(ledger, {
      query: async (partition, options) => {
        const page = await ledger.query(partition, options);
        items += page.items.length;
        return page;
      },
    });
    const { health } = await watch({}, { ledger: counting });
    expect((await health()).body).toMatchObject({ queue: 1_000 });
    expect(items).toBeLessThan(1_300);
  });

  test('asked many times in a second, it looks once; and it writes once in five seconds', async () => {
    const { world, health, counts } = await watch();
    await Promise.all([health(), health(), health()]);
    expect(counts).toEqual({ writes: 1, reads: 1 });
    for (let second = 1; second <= 10; second++) {
      world.clock.nowMs += 1_000;
      await health();
    }
    expect(counts).toEqual({ writes: 3, reads: 11 });
  });

  test.each([
    ['the ledger cannot be written', 'write', 'ledger', WELL],
    ['the ledger cannot be read', 'read', 'ledger', {}],
    ['the objects cannot be read', 'objects', 'objects', WELL],
  ] as const)('%s: it says so at each look, the log says it once, and no path is told', async (_, part, name, rest) => {
    const { world, health, reports, fail } = await watch();
    await health();
    fail(part);
    for (let second = 1; second <= 6; second++) {
      world.clock.nowMs += 5_000;
      const { healthy, body } = await health();
      expect({ healthy, body }).toMatchObject({
        healthy: false,
        body: { status: 'failing', faults: [{ part: name }], ...rest },
      });
      expect(JSON.stringify(body)).not.toContain('secret');
    }
    expect(reports).toEqual([expect.stringContaining('/secret/path is broken')]);
    fail(null);
    world.clock.nowMs += 1_000;
    expect(await health()).toMatchObject({ healthy: true, body: { status: 'ok' } });
  });

  test('an emptied store is no store', async () => {
    const { health } = await watch({}, { objects: { stat: async () => null } });
    expect(await health()).toMatchObject({ healthy: false, body: { faults: [{ part: 'objects' }] } });
  });

  test('while it starts, it is not healthy, and a missing object is no fault', async () => {
    const { health, ready } = await watch({}, { objects: { stat: async () => null } });
    ready.is = false;
    expect(await health()).toMatchObject({ healthy: false, body: { status: 'starting' } });
  });
});
