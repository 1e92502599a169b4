/** Calls of the API: keys, tries, and the credential. The example of clients/typescript/README.md makes real ones. */
import { describe, expect, test } from 'vitest';
import { Tidemark, type TidemarkOptions } from '../../../clients/typescript/tidemark.ts';

interface Sent {
  readonly path: string;
  readonly init: RequestInit & { readonly headers: Readonly<Record<string, string>> };
}

/** A client whose network gives these answers, one a try; without any more, there is no answer. */
function scripted(answers: readonly (Response | null)[], options: Partial<TidemarkOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  let keys = 0;
  const system = {
    fetch: (async (url, init) => {
      const { pathname, search } = new URL(String(url));
      const answer = answers[sent.push({ path: pathname + search, init: init as Sent['init'] }) - 1];
      if (answer) return answer;
      throw new TypeError('fetch failed');
    }) as typeof fetch,
    random: () => 0,
    newKey: () => `key-${++keys}`,
    sleep: async (ms: number) => void waits.push(ms),
  };
  const tidemark = new Tidemark({ url: 'https://data.example', key: 'secret', system, ...options });
  return { tidemark, sent, waits };
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), { status, headers });
const body = { name: 'Breakfast', markets: ['tea-gbp'] };

test('a write has one key over all its tries, and the next write another', async () => {
  const made = json({ id: 'wl_1' }, 201, { etag: '"1"', location: '/api/v1/watchlists/wl_1' });
  const { tidemark, sent } = scripted([null, new Response('', { status: 503 }), made, json({})]);
  const answer = await tidemark.call('POST /api/v1/watchlists', { body });
  expect(answer).toEqual({ status: 201, body: { id: 'wl_1' }, etag: '"1"', location: '/api/v1/watchlists/wl_1' });
  await tidemark.call('POST /api/v1/watchlists', { body });
  expect(sent.map(({ init }) => init.headers['idempotency-key'])).toEqual(['key-1', 'key-1', 'key-1', 'key-2']);
  expect(sent[0]?.init).toMatchObject({
    method: 'POST',
    body: JSON.stringify(body),
    redirect: 'error',
    headers: { authorization: 'Bearer secret', 'content-type': 'application/json' },
  });
});

test('a write without any answer tells its key, and can be repeated with it', async () => {
  const { tidemark } = scripted([], { patienceMs: 0 });
  const failed = tidemark.call('POST /api/v1/watchlists', { body });
  await expect(failed).rejects.toMatchObject({ code: 'no-answer', idempotencyKey: 'key-1' });
  const { tidemark: again, sent } = scripted([json({})]);
  await again.call('POST /api/v1/watchlists', { body, idempotencyKey: 'key-1' });
  expect(sent[0]?.init.headers['idempotency-key']).toBe('key-1');
});

test('parameters, queries and preconditions are sent as the API has them', async () => {
  const { tidemark, sent } = scripted([json({}), new Response(null, { status: 204 }), json({ data: [] })]);
  const params = { id: '../wl?1' };
  await tidemark.call('PUT /api/v1/watchlists/{id}', { params, body, ifMatch: '"1"' });
  const { body: nothing } = await tidemark.call('DELETE /api/v1/watchlists/{id}', { params, ifMatch: '"2"' });
  await tidemark.call('GET /api/v1/watchlists', { query: { cursor: 'a&b' } });
  expect(nothing).toBeNull();
  expect(sent.map(({ path }) => path)).toEqual([
    '/api/v1/watchlists/..%2Fwl%3F1',
    '/api/v1/watchlists/..%2Fwl%3F1',
    '/api/v1/watchlists?cursor=a%26b',
  ]);
  expect(sent.map(({ init }) => init.headers['if-match'])).toEqual(['"1"', '"2"', undefined]);
  expect(sent[2]?.init.headers).not.toHaveProperty('idempotency-key');
  const none = { params: {} } as never;
  await expect(tidemark.call('GET /api/v1/watchlists/{id}', none)).rejects.toMatchObject({ code: 'invalid-request' });
});

describe('the key', () => {
  test('is not sent with public reads, and there need be none', async () => {
    const { tidemark, sent } = scripted([json({ data: [] })]);
    await tidemark.latest();
    expect(sent[0]?.init.headers).not.toHaveProperty('authorization');
    const open = scripted([json({})], { key: undefined });
    await open.tidemark.call('GET /api/v1/snapshot');
    expect(open.sent[0]?.init.headers).not.toHaveProperty('authorization');
  });

  test('goes to the write host alone', async () => {
    const asked: string[] = [];
    const system = {
      fetch: (async (url) => {
        asked.push(new URL(String(url)).host);
        return json({ data: [] });
      }) as typeof fetch,
    };
    const tidemark = new Tidemark({ url: 'https://data.example', writeUrl: 'https://api.example', key: 'k', system });
    await tidemark.latest();
    await tidemark.call('GET /api/v1/me');
    expect(asked).toEqual(['data.example', 'api.example']);
  });
});

test('a batch is sent with its options, and its report read until it is finished', async () => {
  const report = (finishedAt: string | null) => json({ id: 'bat_1', finishedAt });
  const { tidemark, sent, waits } = scripted([
    report(null),
    report(null),
    report(null),
    report('2026-11-20T12:00:00Z'),
  ]);
  const { id } = await tidemark.ingest([], { mode: 'correct', partial: true });
  expect(JSON.parse(String(sent[0]?.init.body))).toEqual({ mode: 'correct', partial: true, records: [] });
  expect((await tidemark.waitForBatch(id)).finishedAt).toBe('2026-11-20T12:00:00Z');
  expect([sent[3]?.path, waits]).toEqual(['/api/v1/ingest/batches/bat_1', [100, 200]]);
  const stop = AbortSignal.abort('stop');
  await expect(tidemark.waitForBatch(id, { signal: stop })).rejects.toBe('stop');
});
