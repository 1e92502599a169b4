/** The life of connections with the fast lane and without: what time, the store and purges do between requests. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runs } from '../runs.ts';
import type { Edge } from './edge-fixture.ts';
import { BODIES, etagOf, putObjects } from './lane-world.ts';
import { RawClient, startTwins, type Twins, withoutDate } from './twin-edges.ts';

const GOLD: { kind: 'market'; slug: string } = { kind: 'market', slug: 'gold-usd' };
const GOLD_URL = '/api/v1/markets/gold-usd';
const URLS = [GOLD_URL, '/api/v1/markets', '/api/v1/markets/gold-usd/history', '/api/v1/markets/no-such', '/nowhere'];

type Step =
  | {
      readonly kind: 'ask';
      readonly connection: number;
      readonly method: string;
      readonly url: string;
      readonly more: string;
    }
  | { readonly kind: 'clock'; readonly seconds: number }
  | { readonly kind: 'store'; readonly mode: 'up' | 'unavailable' | 'corrupt' }
  | { readonly kind: 'put'; readonly body: string }
  | { readonly kind: 'remove' }
  | { readonly kind: 'purge' };

const ask = fc.record({
  kind: fc.constant('ask' as const),
  connection: fc.nat(2),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS'),
  url: fc.constantFrom(...URLS, GOLD_URL, GOLD_URL),
  more: fc.constantFrom(
    ...[
      '',
      '',
      '',
      'Accept-Encoding: br\r\n',
      'Accept-Encoding: gzip\r\n',
      'If-None-Match: *\r\n',
      'Range: bytes=0-3\r\n',
    ],
    ...['Cache-Control: no-cache\r\n', 'Connection: close\r\n', 'Connection: keep-alive\r\n'],
    ...[
      `If-None-Match: ${etagOf(GOLD_URL)}\r\n`,
      `If-None-Match: W/${etagOf('/api/v1/markets')}\r\nAccept-Encoding: br\r\n`,
    ],
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: ask },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('clock' as const),
      seconds: fc.constantFrom(0.999, 1, 5, 14, 15, 300, 314, 315, -1, -20),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      mode: fc.constantFrom('up' as const, 'up' as const, 'unavailable' as const, 'corrupt' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      body: fc.constantFrom(...['{}', '{"new":1}', `"${'tide'.repeat(1_000)}"`, BODIES[GOLD_URL] as string]),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'remove' } as const, { kind: 'purge' } as const) },
);

/** An edge with the connections of its clients. */
class Side {
  readonly edge: Edge;
  readonly #clients = new Map<number, RawClient>();
  constructor(edge: Edge) {
    this.edge = edge;
  }

  /** What the client sees of one step. */
  async perform(step: Step, shown = withoutDate): Promise<string> {
    const { objects, clock, purge } = this.edge;
    if (step.kind === 'ask') return this.#ask(step, shown);
    if (step.kind === 'clock') clock.advanceSeconds(step.seconds);
    else if (step.kind === 'store') objects.mode = step.mode;
    else if (step.kind === 'put') objects.put(GOLD, step.body);
    else if (step.kind === 'remove') objects.remove(GOLD);
    else purge('everything');
    return '';
  }

  async #ask(
    { connection, method, url, more }: Step & { readonly kind: 'ask' },
    shown: typeof withoutDate,
  ): Promise<string> {
    let client = this.#clients.get(connection);
    if (client === undefined || !client.isUsable) {
      client = await RawClient.open(this.edge);
      this.#clients.set(connection, client);
    }
    const from = client.text.length;
    await client.send(`${method} ${url} HTTP/1.1\r\nHost: a\r\n${more}\r\n`);
    const { text } = client;
    const isWhole = () => isWholeAnswer(client.text.slice(from), method);
    if (!(await client.waitFor(isWhole, 5_000))) return `no whole answer: ${text.slice(from)}`;
    if (more.includes('close')) await client.waitFor(() => false, 5_000);
    return `${shown(client.text.slice(from))}${client.isUsable ? '' : ' closed'}`;
  }

  close(): void {
    for (const client of this.#clients.values()) client.socket.destroy();
  }
}

function isWholeAnswer(text: string, method: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  if (method === 'HEAD' || /^HTTP\/1\.1 (?:304|204)/.test(text)) return true;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end)) ?? [];
  return text.length >= end + 4 + Number(length);
}

let twins: Twins;

beforeEach(async () => {
  twins = await startTwins({ wantsNewest: (request) => request.headers['cache-control'] === 'no-cache' });
});
afterEach(() => twins.close());

test('property: in any order, each step is answered alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
      const { lane, plain } = twins;
      twins.each((edge) => {
        putObjects(edge);
        edge.purge('everything');
        edge.objects.mode = 'up';
        edge.objects.reads.length = 0;
      });
      const sides = [new Side(lane), new Side(plain)] as const;
      try {
        for (const [index, step] of steps.entries()) {
          const [withLane, without] = await Promise.all([sides[0].perform(step), sides[1].perform(step)]);
          expect(withLane, `step ${index}, ${JSON.stringify(step)}`).toBe(without);
          expect(lane.objects.reads).toEqual(plain.objects.reads);
          expect(lane.counts).toEqual(plain.counts);
          expect(lane.reports.length).toBe(plain.reports.length);
        }
      } finally {
        for (const side of sides) side.close();
      }
    }),
    { numRuns: runs(60, 600) },
  );
});

test('the lane tells the time of its clock, to the second', async () => {
  const { lane } = twins;
  putObjects(lane);
  const side = new Side(lane);
  const asked = { kind: 'ask', connection: 0, method: 'GET', url: GOLD_URL, more: '' } as const;
  for (const seconds of [0, 0.5, 0.5, 1, 13, 0.999, 3_600]) {
    lane.clock.advanceSeconds(seconds);
    const second = lane.clock.nowMs - (lane.clock.nowMs % 1_000);
    expect(await side.perform(asked, (text) => text)).toContain(`\r\nDate: ${new Date(second).toUTCString()}\r\n`);
  }
  side.close();
});
