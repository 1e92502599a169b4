import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { type CacheAnswer, createObjectCache, type ObjectCache } from '../../../server/edge/cache.ts';
import type { GetResult } from '../../../storage/ports/object-store.ts';
import { FakeClock, FaultyObjects } from './edge-fixture.ts';

const GOLD: PublicObjectName = { kind: 'market', slug: 'gold-usd' };
const KEY = publicKey(GOLD);

let objects: FaultyObjects;
let clock: FakeClock;
let reports: unknown[];
let cache: ObjectCache<string>;

function startCache(maxBytes = 1_000_000): ObjectCache<string> {
  objects = new FaultyObjects();
  clock = new FakeClock();
  reports = [];
  return createObjectCache({
    objects,
    nowMs: () => clock.nowMs,
    view: (_key, object) => new TextDecoder().decode(object.body),
    sizeOf: (text) => text.length,
    maxBytes,
    deadlineMs: 20,
    report: (_key, cause) => reports.push(cause),
  });
}

beforeEach(() => {
  cache = startCache();
});

/** The reader's answer: the text or the reason without one; and whether the store was asked. */
async function look(key = KEY): Promise<string> {
  const before = objects.reads.length;
  const entry = cache.fresh(key);
  const answer: CacheAnswer<string> | null = entry ? null : await cache.read(key);
  const got = entry?.view ?? (answer?.kind === 'found' ? answer.entry.view : answer?.kind);
  return `${got}${answer?.kind === 'found' && answer.provenance === 'stale-if-error' ? ' stale' : ''}, ${objects.reads.length - before} read`;
}

describe('freshness', () => {
  test('an object is served for 15 seconds without asking, and then asked for again', async () => {
    objects.put(GOLD, 'one');
    expect(await look()).toBe('one, 1 read');
    clock.advanceSeconds(14.999);
    expect(await look()).toBe('one, 0 read');
    clock.advanceSeconds(0.001);
    expect(await look()).toBe('one, 1 read');
    expect(objects.reads.map(({ conditional }) => conditional)).toEqual([false, true]);
  });

  test('a change shows after 15 seconds', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.put(GOLD, 'two');
    clock.advanceSeconds(14);
    expect(await look()).toBe('one, 0 read');
    clock.advanceSeconds(1);
    expect(await look()).toBe('two, 1 read');
  });

  test('revalidation makes an entry fresh for another 15 seconds and keeps its view', async () => {
    objects.put(GOLD, 'one');
    await look();
    clock.advanceSeconds(15);
    const answer = await cache.read(KEY);
    expect(answer).toMatchObject({ provenance: 'stale' });
    clock.advanceSeconds(14);
    expect(await look()).toBe('one, 0 read');
  });

  test('age counts from the question, not from the answer', async () => {
    objects.put(GOLD, 'one');
    const gate = Promise.withResolvers<void>();
    objects.gate = gate.promise;
    const answer = cache.read(KEY);
    const askedAtMs = clock.nowMs;
    clock.advanceSeconds(4);
    gate.resolve();
    expect(await answer).toMatchObject({ entry: { validatedAtMs: askedAtMs } });
  });

  test('a clock that is set back makes an entry expire', async () => {
    objects.put(GOLD, 'one');
    await look();
    clock.advanceSeconds(-3600);
    expect(await look()).toBe('one, 1 read');
  });
});

describe('while the store fails', () => {
  test.each(['unavailable', 'corrupt', 'hangs'] as const)('%s: an expired object is served', async (mode) => {
    objects.put(GOLD, 'one');
    await look();
    objects.mode = mode;
    clock.advanceSeconds(15);
    expect(await look()).toBe('one stale, 1 read');
    expect(reports).toHaveLength(1);
  });

  test('it is served until 300 seconds after it expired, and no longer', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.mode = 'unavailable';
    clock.advanceSeconds(314.999);
    expect(await look()).toBe('one stale, 1 read');
    clock.advanceSeconds(0.001);
    expect(await look()).toBe('unavailable, 0 read');
    clock.advanceSeconds(5);
    expect(await look()).toBe('unavailable, 1 read');
    expect(await look()).toBe('unavailable, 0 read');
  });

  test('the store is asked for a key once in 5 seconds', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.mode = 'unavailable';
    clock.advanceSeconds(15);
    expect(await look()).toBe('one stale, 1 read');
    clock.advanceSeconds(4.999);
    expect(await look()).toBe('one stale, 0 read');
    clock.advanceSeconds(0.001);
    expect(await look()).toBe('one stale, 1 read');
  });

  test('the same holds for a key of which nothing is held', async () => {
    objects.mode = 'unavailable';
    expect(await look()).toBe('unavailable, 1 read');
    clock.advanceSeconds(4.999);
    expect(await look()).toBe('unavailable, 0 read');
    clock.advanceSeconds(0.001);
    expect(await look()).toBe('unavailable, 1 read');
  });

  test('another key is fetched separately', async () => {
    objects.mode = 'unavailable';
    await look();
    expect(await look(publicKey({ kind: 'snapshot' }))).toBe('unavailable, 1 read');
  });

  test('when it is back, the next question is answered', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.mode = 'unavailable';
    clock.advanceSeconds(15);
    await look();
    objects.mode = 'up';
    objects.put(GOLD, 'two');
    clock.advanceSeconds(5);
    expect(await look()).toBe('two, 1 read');
    expect(await look()).toBe('two, 0 read');
  });

  test('a "not modified" without a condition is a failure', async () => {
    const lying = async (): Promise<GetResult> => ({ kind: 'not-modified' });
    const options = { nowMs: () => clock.nowMs, maxBytes: 1_000, deadlineMs: 20, report: () => {} };
    const fooled = createObjectCache({ ...options, objects: { get: lying }, view: () => '', sizeOf: () => 0 });
    expect(await fooled.read(KEY)).toMatchObject({ kind: 'unavailable' });
  });
});

describe('absence', () => {
  test('is remembered for 15 seconds', async () => {
    expect(await look()).toBe('absent, 1 read');
    objects.put(GOLD, 'one');
    clock.advanceSeconds(14.999);
    expect(await look()).toBe('absent, 0 read');
    clock.advanceSeconds(0.001);
    expect(await look()).toBe('one, 1 read');
  });

  test('evicts the kept body, which a later failure does not bring back', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.remove(GOLD);
    clock.advanceSeconds(15);
    expect(await look()).toBe('absent, 1 read');
    objects.mode = 'unavailable';
    clock.advanceSeconds(15);
    expect(await look()).toBe('unavailable, 1 read');
  });

  test('of ten thousand other keys does not push an object out', async () => {
    objects.put(GOLD, 'one');
    await look();
    for (let index = 0; index < 20_000; index++) await cache.read(publicKey({ kind: 'market', slug: `no-${index}` }));
    expect(await look()).toBe('one, 0 read');
    // The oldest absences are forgotten, the newest are not.
    expect(await look(publicKey({ kind: 'market', slug: 'no-0' }))).toBe('absent, 1 read');
    expect(await look(publicKey({ kind: 'market', slug: 'no-19999' }))).toBe('absent, 0 read');
  });
});

describe('simultaneous readers of one key', () => {
  test.each([
    ['up', 'found'],
    ['unavailable', 'unavailable'],
    ['hangs', 'unavailable'],
  ] as const)('with the store %s all get %s from one read', async (mode, kind) => {
    objects.put(GOLD, 'one');
    objects.mode = mode;
    const answers = await Promise.all(Array.from({ length: 50 }, () => cache.read(KEY)));
    expect(answers.map((answer) => answer.kind)).toEqual(Array(50).fill(kind));
    expect(objects.reads).toHaveLength(1);
  });

  test('share a revalidation', async () => {
    objects.put(GOLD, 'one');
    await look();
    clock.advanceSeconds(15);
    await Promise.all(Array.from({ length: 50 }, () => cache.read(KEY)));
    expect(objects.reads).toHaveLength(2);
  });
});

describe('memory', () => {
  test('is bounded by bytes: the oldest go first', async () => {
    cache = startCache(46_000);
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((slug) => {
      objects.put({ kind: 'market', slug }, slug.repeat(9_000));
      return publicKey({ kind: 'market', slug });
    });
    for (const key of keys) await cache.read(key);
    expect(keys.map((key) => cache.fresh(key) !== undefined)).toEqual([0, 0, 0, 0, 1, 1, 1, 1].map(Boolean));
  });

  test('an object that was asked for again stays when others come that are read once', async () => {
    cache = startCache(46_000);
    objects.put(GOLD, 'x'.repeat(9_000));
    await cache.read(KEY);
    for (let index = 0; index < 40; index++) {
      const slug = `once-${index}`;
      objects.put({ kind: 'market', slug }, slug.repeat(1_000));
      await cache.read(publicKey({ kind: 'market', slug }));
      expect(cache.fresh(KEY)).toBeDefined();
    }
    expect(objects.reads).toHaveLength(41);
    expect(cache.usage()).toMatchObject({ objects: 6 });
    expect(cache.usage().bytes).toBeLessThanOrEqual(46_000);
  });

  test('an object larger than all of it is served and not stored', async () => {
    cache = startCache(5_000);
    objects.put(GOLD, 'x'.repeat(6_000));
    expect(await cache.read(KEY)).toMatchObject({ kind: 'found' });
    expect(cache.fresh(KEY)).toBeUndefined();
  });

  test('a view that grows is counted again', async () => {
    const other = publicKey({ kind: 'snapshot' });
    const sizes = new Map([['gold', 10]]);
    objects.put(GOLD, 'gold');
    objects.put({ kind: 'snapshot' }, 'tide');
    const growing = createObjectCache({
      objects,
      nowMs: () => clock.nowMs,
      view: (_key, object) => new TextDecoder().decode(object.body),
      sizeOf: (view) => sizes.get(view) ?? 0,
      maxBytes: 8_000,
      deadlineMs: 20,
      report: () => {},
    });
    await growing.read(other);
    await growing.read(KEY);
    sizes.set('gold', 7_700);
    expect(growing.fresh(other)).toBeDefined();
    growing.resized(KEY);
    expect(growing.fresh(KEY)).toBeDefined();
    expect(growing.fresh(other)).toBeUndefined();
  });
});

/** The events, in an order from fast-check. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read' as const), readers: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 4, 14, 16, 120) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('break' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mend' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('evict' as const) }) },
);

test('property: readers never see an older body after a newer one, nor one replaced over 315 seconds ago', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      cache = startCache(12_000);
      /** When each version was replaced by the next. */
      const replacedAtMs: number[] = [];
      let newest = 0;
      let lastSeen = 0;
      objects.put(GOLD, '0');
      for (const event of steps) {
        if (event.do === 'wait') clock.advanceSeconds(event.seconds);
        if (event.do === 'break') objects.mode = 'unavailable';
        if (event.do === 'mend') objects.mode = 'up';
        if (event.do === 'publish') {
          replacedAtMs[newest++] = clock.nowMs;
          objects.put(GOLD, String(newest));
        }
        if (event.do === 'evict') {
          objects.put({ kind: 'snapshot' }, 'x'.repeat(10_900));
          await cache.read(publicKey({ kind: 'snapshot' }));
        }
        if (event.do !== 'read') continue;
        const before = objects.reads.length;
        const entry = cache.fresh(KEY);
        const found = entry
          ? [entry]
          : (await Promise.all(Array.from({ length: event.readers }, () => cache.read(KEY)))).flatMap((answer) =>
              answer.kind === 'found' ? [answer.entry] : [],
            );
        expect(objects.reads.length - before).toBeLessThanOrEqual(1);
        for (const { view } of found) {
          const version = Number(view);
          expect(version).toBeGreaterThanOrEqual(lastSeen);
          lastSeen = version;
          const replaced = replacedAtMs[version];
          if (replaced !== undefined) expect(clock.nowMs - replaced).toBeLessThan(315_000);
        }
      }
    }),
    { numRuns: 500 },
  );
});

describe('a change that the cache is told', () => {
  test('is seen by the next reader, who asks the store for what it has', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.put(GOLD, 'two');
    cache.invalidate(KEY);
    expect(await look()).toBe('two, 1 read');
    expect(await look()).toBe('two, 0 read');
    cache.invalidate(KEY);
    expect(await look()).toBe('two, 1 read');
    expect(objects.reads.map(({ conditional }) => conditional)).toEqual([false, true, true]);
    expect(await look()).toBe('two, 0 read');
  });

  test('is seen where nothing was a moment ago', async () => {
    expect(await look()).toBe('absent, 1 read');
    objects.put(GOLD, 'one');
    cache.invalidate(KEY);
    expect(await look()).toBe('one, 1 read');
  });

  test('and that the store does not give leaves the older body for as long as any', async () => {
    objects.put(GOLD, 'one');
    await look();
    cache.invalidate(KEY);
    objects.mode = 'unavailable';
    expect(await look()).toBe('one stale, 1 read');
    expect(await look()).toBe('one stale, 0 read');
    clock.advanceSeconds(314.999);
    expect(await look()).toBe('one stale, 1 read');
    clock.advanceSeconds(0.001);
    expect(await look()).toBe('unavailable, 0 read');
  });

  test.each([false, true])('is not hidden by a read that began before it, conditional: %s', async (isKnown) => {
    objects.put(GOLD, 'one');
    if (isKnown) await look();
    clock.advanceSeconds(15);
    const gate = Promise.withResolvers<void>();
    objects.gate = gate.promise;
    const underWay = look();
    objects.put(GOLD, 'two');
    cache.invalidate(KEY);
    objects.gate = null;
    gate.resolve();
    expect(await underWay).toMatch('one');
    expect(await look()).toBe('two, 1 read');
    expect(await look()).toBe('two, 0 read');
  });
});

describe('dropping', () => {
  const SILVER: PublicObjectName = { kind: 'market', slug: 'silver-usd' };
  const SILVER_KEY = publicKey(SILVER);
  const dropGold = () => cache.drop((key) => key === KEY);

  test('asks the store for fresh keys again, and for no others', async () => {
    objects.put(GOLD, 'one');
    objects.put(SILVER, 'other');
    await look();
    await look(SILVER_KEY);
    objects.put(GOLD, 'two');
    dropGold();
    expect(await look()).toBe('two, 1 read');
    expect(await look(SILVER_KEY)).toBe('other, 0 read');
  });

  test('asks it again for keys that were absent a moment ago', async () => {
    expect(await look()).toBe('absent, 1 read');
    objects.put(GOLD, 'one');
    dropGold();
    expect(await look()).toBe('one, 1 read');
  });

  test.each([
    ['found', 'one'],
    ['absent', null],
  ])('does not keep the result of a running read: %s', async (_title, before) => {
    if (before !== null) objects.put(GOLD, before);
    const gate = Promise.withResolvers<void>();
    objects.gate = gate.promise;
    const underWay = look();
    objects.put(GOLD, 'two');
    dropGold();
    objects.gate = null;
    expect(await look()).toBe('two, 1 read');
    gate.resolve();
    expect(await underWay).toMatch(before ?? 'absent');
    expect(await look()).toBe('two, 0 read');
  });

  test('does not let a read under way end the one that came after it', async () => {
    objects.put(GOLD, 'one');
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    objects.gate = first.promise;
    const dropped = cache.read(KEY);
    dropGold();
    objects.gate = second.promise;
    const newer = cache.read(KEY);
    first.resolve();
    await dropped;
    const joined = cache.read(KEY);
    second.resolve();
    await Promise.all([newer, joined]);
    expect(objects.reads).toHaveLength(2);
  });

  test('leaves nothing to be served when the store fails then', async () => {
    objects.put(GOLD, 'one');
    await look();
    clock.advanceSeconds(15);
    const gate = Promise.withResolvers<void>();
    objects.gate = gate.promise;
    objects.mode = 'unavailable';
    const underWay = look();
    dropGold();
    gate.resolve();
    expect(await underWay).toBe('unavailable, 1 read');
  });
});
