/** One request until it is settled: tries, waits, time limits, aborts and errors, with a network of the test. */
import { describe, expect, test } from 'vitest';
import { MemoryBodies } from '../../../clients/typescript/kept-bodies.ts';
import { THIS_SYSTEM } from '../../../clients/typescript/system.ts';
import { Tidemark, type TidemarkOptions } from '../../../clients/typescript/tidemark.ts';
import { TidemarkError } from '../../../clients/typescript/tidemark-error.ts';
import { problem } from '../../../contract/problems/problems.ts';

const NOW_MS = Date.parse('2026-11-20T12:00:00Z');
const FINE = '{"data":[]}';
type Step = Response | Error | 'hangs';

const answer = (status: number, headers: Record<string, string> = {}, body = '') =>
  new Response(body, { status, headers });
const fine = () => answer(200, {}, FINE);
const refused = (code: Parameters<typeof problem>[0], headers: Record<string, string> = {}) => {
  const document = problem(code, 'Because.', { instance: '/requests/r1' });
  return answer(document.status, headers, JSON.stringify(document));
};

/** A client whose network takes these steps, one a try. */
function scripted(steps: readonly (() => Step)[], options: Partial<TidemarkOptions> = {}) {
  const waits: number[] = [];
  let tries = 0;
  const ask: typeof fetch = async (_, init) => {
    const step = steps[tries++]?.();
    if (step instanceof Response) return step;
    if (step !== 'hangs') throw step ?? new Error('asked too often');
    return await new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
    });
  };
  const sleep = async (ms: number) => void waits.push(ms);
  const system = { fetch: ask, nowMs: () => NOW_MS, random: () => 0, sleep, ...options.system };
  const tidemark = new Tidemark({ url: 'https://data.example', ...options, system });
  return { tidemark, waits, tries: () => tries };
}

describe('a passing fault is waited out:', () => {
  test.each<[string, readonly (() => Step)[], readonly number[]]>([
    ['no answer', [() => new TypeError('fetch failed'), fine], [150]],
    [
      'a body that breaks off',
      [() => new Response(new ReadableStream({ start: (to) => to.error(new Error('cut')) })), fine],
      [150],
    ],
    ['503 and 502 of a proxy', [() => answer(503, {}, '<html>'), () => answer(502), fine], [150, 300]],
    [
      'each of the statuses of moments',
      [408, 425, 429, 500, 504].map((status) => () => answer(status)).concat([fine]),
      [150, 300, 600, 1200, 2400],
    ],
    ['Retry-After in seconds', [() => answer(503, { 'retry-after': '7' }), fine], [7_000]],
    ['Retry-After as a date', [() => answer(429, { 'retry-after': 'Fri, 20 Nov 2026 12:00:09 GMT' }), fine], [9_000]],
    ['Retry-After in the past', [() => answer(429, { 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }), fine], [0]],
    ['Retry-After that says nothing', [() => answer(429, { 'retry-after': 'soon' }), fine], [150]],
    ['contention', [() => refused('contention'), fine], [150]],
  ])('%s', async (_, steps, expected) => {
    const { tidemark, waits } = scripted(steps);
    expect(await tidemark.latest()).toEqual([]);
    expect(waits).toEqual(expected);
  });
});

describe('a fault that stays is told at once:', () => {
  test.each<[string, () => Step, object]>([
    ['404', () => refused('not-found'), { code: 'not-found', status: 404, requestId: 'r1', detail: 'Because.' }],
    [
      'the quota of the day',
      () => refused('daily-quota-exceeded', { 'retry-after': '5' }),
      { code: 'daily-quota-exceeded' },
    ],
    ['a wait beyond all patience', () => answer(503, { 'retry-after': '31' }), { status: 503, retryAfterMs: 31_000 }],
    ['501', () => answer(501), { code: 'unexpected-answer', status: 501 }],
    [
      '403 of a proxy',
      () => answer(403, {}, '<html>no</html>'),
      { code: 'unexpected-answer', status: 403, requestId: null },
    ],
    ['JSON that is no problem', () => answer(400, {}, 'null'), { code: 'unexpected-answer', errors: [] }],
    [
      'a problem with members of other types',
      () => answer(400, {}, '{"code":"not-found","detail":{},"instance":7,"errors":[null,{"pointer":1}]}'),
      { code: 'not-found', detail: '400', requestId: null, errors: [] },
    ],
    ['a success that is no JSON', () => answer(200, {}, '<html>'), { code: 'unexpected-answer', status: 200 }],
    ['a success of another shape', () => answer(200, {}, '{"data":7}'), { code: 'unexpected-answer' }],
    ['a success that is no object', () => answer(200, {}, 'null'), { code: 'unexpected-answer' }],
  ])('%s', async (_, step, expected) => {
    const { tidemark, tries } = scripted([step, step]);
    const error = await tidemark.latest().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TidemarkError);
    expect(error).toMatchObject(expected);
    expect(tries()).toBe(1);
  });
});

test('all waits together are limited', async () => {
  const { tidemark, waits } = scripted(Array.from({ length: 99 }, () => () => answer(503, { 'retry-after': '9' })));
  await expect(tidemark.latest()).rejects.toMatchObject({ status: 503 });
  expect(waits).toEqual([9_000, 9_000, 9_000]);
  const patient = scripted(Array.from({ length: 9 }, () => () => answer(503)).concat([fine]), { patienceMs: 1e6 });
  await patient.tidemark.latest();
  expect(patient.waits.at(-1)).toBe(10_000);
  const hasty = scripted([() => answer(503, { 'retry-after': '0' })], { patienceMs: 0 });
  await expect(hasty.tidemark.latest()).rejects.toMatchObject({ status: 503 });
  expect(hasty.tries()).toBe(1);
});

test('an answer that takes too long is none', async () => {
  const { tidemark } = scripted([() => 'hangs', fine], { timeoutMs: 5 });
  expect(await tidemark.latest()).toEqual([]);
});

describe('an abort is the reason of the signal, and nothing is asked after it:', () => {
  test('before the request', async () => {
    const { tidemark, tries } = scripted([fine]);
    await expect(tidemark.latest({ signal: AbortSignal.abort('stop') })).rejects.toBe('stop');
    expect(tries()).toBe(0);
  });

  test.each<[string, Step]>([
    ['during it', 'hangs'],
    ['with an answer on its way', answer(503)],
  ])('%s', async (_, step) => {
    const stop = new AbortController();
    const aborting = () => {
      queueMicrotask(() => stop.abort('stop'));
      return step;
    };
    const { tidemark, tries } = scripted([aborting, fine]);
    await expect(tidemark.latest({ signal: stop.signal })).rejects.toBe('stop');
    expect(tries()).toBe(1);
  });

  test('while it waits', async () => {
    const stop = new AbortController();
    const { sleep } = THIS_SYSTEM;
    const { tidemark } = scripted([() => answer(503, { 'retry-after': '20' })], { system: { sleep } });
    setTimeout(() => stop.abort('stop'), 5);
    await expect(tidemark.latest({ signal: stop.signal })).rejects.toBe('stop');
  });
});

test('kept bodies are those that were used last', () => {
  const bodies = new MemoryBodies(10);
  for (const url of ['a', 'b', 'c']) bodies.set(url, { etag: url, text: '1234' });
  expect(['a', 'b', 'c'].map((url) => bodies.get(url)?.etag)).toEqual([undefined, 'b', 'c']);
});

describe("a service that may be anybody's", () => {
  const endless = () =>
    new Response(new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1024 * 1024).fill(32)) }));

  test('cannot fill the memory with a body without an end', async () => {
    const { tidemark, tries } = scripted([endless]);
    await expect(tidemark.market('gold-usd')).rejects.toMatchObject({ code: 'unexpected-answer' });
    expect(tries()).toBe(1);
  });

  const row = (id: string, day: number) => ({ id, observedAt: `2026-01-0${day}T00:00:00Z` });
  test.each<[string, readonly object[]]>([
    ['markets', [{ slug: 'a' }, { slug: 'b' }]],
    ['markets', []],
    ['history', [row('o2', 2), row('o1', 1)]],
    ['history', [row('o2', 1), row('o1', 1)]],
    ['history', []],
  ])('cannot lead a walk of %s in a circle, or on for ever: %j', async (what, data) => {
    let asked = 0;
    const ask = async () => new Response(JSON.stringify({ data, page: { nextCursor: `1-${asked++ % 500}` } }));
    const tidemark = new Tidemark({ url: 'https://data.example', system: { fetch: ask }, patienceMs: 0 });
    const walk = async () => {
      for await (const _ of what === 'markets' ? tidemark.markets() : tidemark.history('a'));
    };
    await expect(walk()).rejects.toMatchObject({ code: 'unexpected-answer' });
    expect(asked).toBeLessThan(500);
  });
});
