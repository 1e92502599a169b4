import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import { createObjectCache, type ObjectCache } from '../../../server/edge/cache.ts';
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
  const answer = await cache.read(key);
  const got = answer.kind === 'found' ? answer.view : answer.kind;
  return `${got}${answer.provenance === 'stale-if-error' ? ' stale' : ''}, ${objects.reads.length - before} read`;
}

describe('freshness', () => {
  test('age counts from the question, not from the answer', async () => {
    objects.put(GOLD, 'one');
    const gate = Promise.withResolvers<void>();
    objects.gate = gate.promise;
    const answer = cache.read(KEY);
    const askedAtMs = clock.nowMs;
    clock.advanceSeconds(4);
    gate.resolve();
    expect(await answer).toMatchObject({ validatedAtMs: askedAtMs });
  });
});

describe('while the store fails', () => {
  test('it is served until 300 seconds after it expired, and no longer', async () => {
    objects.put(GOLD, 'one');
    await look();
    objects.mode = 'unavailable';
    clock.advanceSeconds(314.999);
    expect(await look()).toBe('one stale, 1 read');
    clock.advanceSeconds(0.002);
    expect(await look()).toBe('unavailable, 1 read');
    expect(await look()).toBe('unavailable, 0 read');
    clock.advanceSeconds(5);
    expect(await look()).toBe('unavailable, 1 read');
  });
});

describe('absence', () => {
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

describe('memory', () => {
  const read = async (slug: string) => {
    objects.put({ kind: 'market', slug }, slug.repeat(9_000 / slug.length));
    return await look(publicKey({ kind: 'market', slug }));
  };

  test('is bounded by bytes: the object that was asked for longest ago goes first', async () => {
    cache = startCache(46_000);
    for (const slug of ['a', 'b', 'c', 'd', 'a', 'e']) await read(slug);
    const asked: string[] = [];
    for (const slug of ['a', 'c', 'd', 'e', 'b']) if ((await read(slug)).endsWith('1 read')) asked.push(slug);
    expect(asked).toEqual(['b']);
  });

  test('an object larger than all of it is served and not stored', async () => {
    cache = startCache(5_000);
    expect(await read('a')).toMatch(/, 1 read$/);
    expect(await read('a')).toMatch(/, 1 read$/);
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
        const answers = await Promise.all(Array.from({ length: event.readers }, () => cache.read(KEY)));
        const found = answers.flatMap((answer) => (answer.kind === 'found' ? [answer] : []));
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

  test('and that the store does not give leaves the older body for as long as any', async () => {
    objects.put(GOLD, 'one');
    await look();
    cache.invalidate(KEY);
    objects.mode = 'unavailable';
    expect(await look()).toBe('one, 1 read');
    expect(await look()).toBe('one, 0 read');
    clock.advanceSeconds(314.999);
    expect(await look()).toBe('one stale, 1 read');
    clock.advanceSeconds(0.002);
    expect(await look()).toBe('unavailable, 1 read');
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
  const dropGold = () => cache.drop((key) => key === KEY);

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

  test('nor that of a second read after the first has ended', async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    objects.put(GOLD, 'one');
    objects.gate = first.promise;
    const before = look();
    dropGold();
    objects.gate = second.promise;
    const underWay = look();
    first.resolve();
    await before;
    objects.put(GOLD, 'two');
    dropGold();
    objects.gate = null;
    second.resolve();
    await underWay;
    expect(await look()).toBe('two, 1 read');
  });
});
