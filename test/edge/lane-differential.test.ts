/** The fast lane is not seen by clients: the same bytes get the same answers without it. */
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CACHE_STATUSES } from '../../embedded/edge/read-counts.ts';
import { runs } from '../runs.ts';
import { ask, type Edge, NOON_MS } from './edge-fixture.ts';
import { type Case, laneCase } from './lane-requests.ts';
import { BODIES, etagOf, putObjects } from './lane-world.ts';
import { conversation, converseWithBoth, difference, type Seen, startTwins, type Twins } from './twin-edges.ts';

/** Cases that run side by side, each with edges of its own: those whose connection waits for more do not hold up others. */
const SIDE_BY_SIDE = 8;

interface Bench {
  readonly twins: Twins;
  isReady: boolean;
  /** Requests to the edge with the lane that reached node:http, the sentinels apart. */
  passed: number;
  /** Requests that it answered with an object, or without one from the store. */
  answered: number;
}

let benches: Bench[];

beforeAll(async () => {
  benches = await Promise.all(
    Array.from({ length: SIDE_BY_SIDE }, async () => {
      const bench = { isReady: true, passed: 0, answered: 0 };
      const twins = await startTwins({
        isReady: () => bench.isReady,
        wantsNewest: (request) => request.headers['cache-control'] === 'no-cache',
        divert: (request) =>
          request.url === '/list'
            ? async (_, response) => {
                response.writeHead(201, { 'content-length': 4 });
                response.end('list');
              }
            : null,
      });
      twins.each(putObjects);
      twins.lane.server.on('request', ({ url }) => {
        if (url !== '/healthz') bench.passed++;
      });
      return Object.assign(bench, { twins });
    }),
  );
});
afterAll(async () => {
  for (const { twins } of benches) await twins.close();
});

/** The state of both edges at the beginning of a case. */
async function prepare(bench: Bench, { warm, seconds, store, isReady }: Case): Promise<void> {
  const { twins } = bench;
  bench.answered += twins.lane.counts.classes.reduce((sum, count) => sum + count);
  bench.isReady = true;
  twins.each((edge) => {
    edge.purge('everything');
    edge.clock.nowMs = NOON_MS;
    edge.objects.mode = 'up';
    edge.objects.reads.length = 0;
    edge.counts.classes.fill(0);
    for (const status of CACHE_STATUSES) edge.counts.cache[status] = 0;
    edge.reports.length = 0;
  });
  for (const { url, accept } of warm) {
    await Promise.all([twins.lane, twins.plain].map((edge) => ask(edge, url, { 'accept-encoding': accept })));
  }
  twins.each((edge) => {
    edge.clock.advanceSeconds(seconds);
    edge.objects.mode = store;
  });
  bench.isReady = isReady;
}

/** A sentence about the first difference that a client, the store or the operator sees; null if there is none. */
async function differenceOf(bench: Bench, each: Case, triesLeft = 3): Promise<string | null> {
  const { lane, plain } = bench.twins;
  await prepare(bench, each);
  const seen = await converseWithBoth(bench.twins, each.sent);
  const found = difference(seen.lane, seen.plain);
  if (found !== null) return (await isAnswerOfPlain(bench, each, seen.lane)) ? null : found;
  if (seen.lane.ending === 'open') return 'neither connection was closed';
  // An answer is counted when its body is compressed, even if its client has gone by then, and the next case has begun.
  for (let turn = 0; insideOf(lane) !== insideOf(plain) && turn < 30; turn++) await setTimeout(turn);
  if (insideOf(lane) === insideOf(plain)) return null;
  return triesLeft > 0 ? differenceOf(bench, each, triesLeft - 1) : `lane ${insideOf(lane)}, plain ${insideOf(plain)}`;
}

/** The counts of answers, reads of the store, and reports. */
function insideOf({ counts, objects, reports }: Edge): string {
  return JSON.stringify([counts, objects.reads, reports.length]);
}

/**
 * Whether the slow path gives this answer too, at another speed. node:http runs promises within a packet if it reads the
 * packet itself, and after it if a stream does, as behind the lane. A packet that waits in the lane comes together with
 * the next one, so both may wait for one read of the store.
 */
async function isAnswerOfPlain(bench: Bench, each: Case, seen: Seen): Promise<boolean> {
  const how = [0, 1, 5, 100].flatMap((pauseMs) => [true, false].map((isStreamed) => ({ pauseMs, isStreamed })));
  let again = seen;
  for (const speed of how) {
    await prepare(bench, each);
    again = await conversation(bench.twins.plain, each.sent, speed);
    if (difference(withoutWay(seen), withoutWay(again)) === null) return true;
  }
  return isCutShort(withoutWay(seen).text, withoutWay(again).text) && seen.ending === 'closed';
}

/**
 * Whether these are the answers but for the last ones, in a conversation that ends with a refusal: a malformed request
 * ends the connection without the answers that are owed, such as those whose body is being compressed. That takes as long
 * as the machine likes.
 */
function isCutShort(text: string, whole: string): boolean {
  const lastStatus = Array.from(whole.matchAll(/HTTP\/1\.1 (\d)\d\d /g), ([, first]) => first).at(-1);
  return lastStatus === '4' && whole.startsWith(text) && /^HTTP\/1\.1 \d/.test(whole.slice(text.length));
}

/** A moment after a read, its object comes from the cache: a moment earlier, from the same read. */
function withoutWay({ text, ending }: Seen): Seen {
  return {
    text: text.replace(/(?<=Cache-Status: Tidemark; )(?:hit; ttl=15|fwd=.*; collapsed)(?=\r\n)/g, 'new'),
    ending,
  };
}

describe.each(Object.keys(BODIES))('%s', (url) => {
  const wanted = ['', 'br', 'gzip', 'gzip;q=0.5, br;q=0.4', 'identity;q=0'].flatMap((codings) =>
    ['', etagOf(url), `W/${etagOf(url)}`, '"other"', '*'].map((validators) => [codings, validators]),
  );
  const sent = wanted.flatMap(([codings, validators]) =>
    ['GET', 'HEAD'].map((method) => ({
      bytes:
        `${method} ${url} HTTP/1.1\r\nHost: a\r\n${codings === '' ? '' : `Accept-Encoding: ${codings}\r\n`}` +
        `${validators === '' ? '' : `If-None-Match: ${validators}\r\n`}\r\n`,
      pauses: true,
    })),
  );
  const warm = ['br', 'gzip', 'identity'].map((accept) => ({ url, accept }));

  test.each<[string, Omit<Case, 'sent'>]>([
    ['fresh', { warm, seconds: 7, store: 'up', isReady: true }],
    ['not read yet', { warm: [], seconds: 0, store: 'up', isReady: true }],
    ['expired', { warm, seconds: 15, store: 'up', isReady: true }],
    ['stale, because the store fails', { warm, seconds: 100, store: 'unavailable', isReady: true }],
    ['not readable', { warm: [], seconds: 0, store: 'unavailable', isReady: true }],
    ['fresh before the service is ready', { warm, seconds: 0, store: 'up', isReady: false }],
  ])('%s: equal in each coding, with each validator', async (_state, state) => {
    expect(await differenceOf(benches[0] as Bench, { ...state, sent })).toBeNull();
  });
});

/** Until then, cases are tried. It also cuts the shrinking of a failure short. */
const TIME_LIMIT_MS = runs(20_000, 90_000);

test('property: any bytes get the same answers from both', { timeout: 2 * TIME_LIMIT_MS }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(laneCase, { minLength: 1, maxLength: SIDE_BY_SIDE, size: 'max' }), async (cases) => {
      const found = await Promise.all(cases.map((each, index) => differenceOf(benches[index] as Bench, each)));
      expect(found.filter((each) => each !== null).join('\n\n')).toBe('');
    }),
    { numRuns: runs(50, 300), interruptAfterTimeLimit: TIME_LIMIT_MS },
  );
});

test('a third of these requests did not reach node:http', () => {
  const answered = benches.reduce((sum, bench) => sum + bench.answered, 0);
  const passed = benches.reduce((sum, bench) => sum + bench.passed, 0);
  expect(passed).toBeLessThan((answered * 2) / 3);
  expect(answered).toBeGreaterThan(5_000);
});
