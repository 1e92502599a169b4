/** Attack: invent a sender's address, or make the edge read its store for every request, through proxies and around them. */
import { expect, onTestFinished, test } from 'vitest';
import { createSenders, type Proxies } from '../../server/http/sender.ts';
import { createWriteServer } from '../../server/http/write-server.ts';
import { ask, startEdge } from '../server/edge/edge-fixture.ts';

/** A server whose sender is 127.0.0.1: itself, or a proxy. */
async function serving(proxies: Proxies) {
  const senders = createSenders(proxies);
  const divert = createWriteServer({
    answer: async ({ requestContext }) => {
      const result = { statusCode: 200, headers: { 'x-sender': requestContext.http.sourceIp }, body: '' };
      return { result, committed: false };
    },
    newRequestId: () => 'r1',
    addressOf: senders.addressOf,
  });
  const edge = await startEdge({ divert, wantsNewest: senders.wantsNewest });
  onTestFinished(() => edge.close());
  const senderOf = async (headers: Record<string, string>) =>
    (await ask(edge, '/api/v1/me', headers)).headers['x-sender'];
  return { edge, senderOf };
}

test.each<[string, Proxies, string | null, string]>([
  ['without proxies nobody is believed', [], '203.0.113.7', '127.0.0.1'],
  ['a sender that is no proxy is not believed', ['127.0.0.2', '10.0.0.0/8'], '203.0.113.7', '127.0.0.1'],
  ['a proxy names its client', ['127.0.0.1'], '203.0.113.7', '203.0.113.7'],
  ['the whole network is believed', ['127.0.0.0/8'], '203.0.113.7', '203.0.113.7'],
  ['IPv6 is as good', ['127.0.0.1'], '2001:db8::1', '2001:db8::1'],
  ['what the client has invented stands before', ['127.0.0.1'], '198.51.100.9, 203.0.113.7', '203.0.113.7'],
  ['a second proxy is believed, too', ['127.0.0.1', '10.0.0.0/8'], '1.1.1.1,203.0.113.7, 10.1.2.3', '203.0.113.7'],
  ['a proxy in the form of IPv6 is the same', ['127.0.0.1', '10.0.0.1'], '203.0.113.7, ::ffff:10.0.0.1', '203.0.113.7'],
  ['a proxy itself asks, e.g. for its health check', ['127.0.0.1'], null, '127.0.0.1'],
  ['an empty field says nothing', ['127.0.0.1'], '', '127.0.0.1'],
  ['something else than an address says nothing', ['127.0.0.1'], '203.0.113.7, unknown', '127.0.0.1'],
  ['an address with a port says nothing', ['127.0.0.1'], '203.0.113.7:4711', '127.0.0.1'],
  ['only proxies', ['127.0.0.0/8'], '127.0.0.9, 127.0.0.8', '127.0.0.9'],
])('%s', async (_, proxies, forwarded, sender) => {
  const { senderOf } = await serving(proxies);
  expect(await senderOf(forwarded === null ? {} : { 'X-Forwarded-For': forwarded })).toBe(sender);
});

const NO_CACHE = { 'Cache-Control': 'no-cache' };
const NAME = { kind: 'market', slug: 'gold-usd' } as const;
const PATH = '/api/v1/markets/gold-usd';

test('no-cache of a reader costs no read of the store', async () => {
  const { edge } = await serving(['127.0.0.2']);
  edge.objects.put(NAME, '{}');
  await ask(edge, PATH);
  edge.clock.nowMs += 14_000;
  expect((await ask(edge, PATH, NO_CACHE)).headers).toMatchObject({
    age: '14',
    'cache-status': expect.stringContaining('hit'),
  });
  expect(edge.objects.reads).toHaveLength(1);
});

test('no-cache of a proxy gets an answer of age 0, so that its own time begins', async () => {
  const { edge } = await serving(['127.0.0.1']);
  edge.objects.put(NAME, '{}');
  await ask(edge, PATH);
  edge.clock.nowMs += 14_000;
  const { headers } = await ask(edge, PATH, NO_CACHE);
  expect(headers).toMatchObject({ age: '0', 'cache-status': 'Tidemark; fwd=request' });
  expect((await ask(edge, PATH)).headers).toMatchObject({ age: '0', 'cache-status': 'Tidemark; hit; ttl=15' });
});

test('a market that comes is found at once through a proxy, and 15 s later by others', async () => {
  const { edge } = await serving(['127.0.0.1']);
  expect((await ask(edge, PATH)).status).toBe(404);
  edge.objects.put(NAME, '{}');
  expect((await ask(edge, PATH)).status).toBe(404);
  expect((await ask(edge, PATH, NO_CACHE)).status).toBe(200);
});

test('while the store fails, a proxy gets what is there, and the store is asked once in five seconds', async () => {
  const { edge } = await serving(['127.0.0.1']);
  edge.objects.put(NAME, '{}');
  await ask(edge, PATH);
  edge.objects.mode = 'unavailable';
  edge.clock.nowMs += 10_000;
  for (let time = 0; time < 5; time++) {
    expect((await ask(edge, PATH, NO_CACHE)).headers.age).toBe('10');
  }
  expect(edge.objects.reads).toHaveLength(2);
  edge.clock.nowMs += 5_000;
  expect((await ask(edge, PATH, NO_CACHE)).headers).toMatchObject({
    age: '15',
    'cache-status': expect.stringContaining('stale-if-error'),
  });
  expect(edge.objects.reads).toHaveLength(3);
});
