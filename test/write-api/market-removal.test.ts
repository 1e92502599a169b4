/** Removing a market: through the write API, the worker and the publisher, to what readers see. */
import { beforeEach, describe, expect, it } from 'vitest';
import { historyUrl, MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { marketKey, observationsOf } from '../../storage/records/markets.ts';
import { ingest } from '../ingest/ingest.ts';
import { workOff } from '../ingest/work-off.ts';
import { dependenciesOn, market, price, readerOf, SMALL_PAGES } from '../publisher/world.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { type ApiWorld, type ApiWorldOptions, openApiWorld } from './world.ts';

const REASON = 'The source has ended its series.';

async function openMarkets(options: ApiWorldOptions = {}) {
  const world = heldToSchemas(openApiWorld(options));
  const dependencies = dependenciesOn(world.ledger, openMemoryObjects(), world);
  const days = Array.from({ length: 2 * SMALL_PAGES.observations + 1 }, (_, day) => price('b', day, 100 + day));
  await ingest(dependencies, [...['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)), ...days, price('c', 0, null)]);
  await publish(dependencies);
  return { world, dependencies, read: readerOf(dependencies.objects) };
}

let world: ApiWorld;
let dependencies: Awaited<ReturnType<typeof openMarkets>>['dependencies'];
let read: Awaited<ReturnType<typeof openMarkets>>['read'];

beforeEach(async () => {
  ({ world, dependencies, read } = await openMarkets({
    scopes: { feed: ['ingest:write', 'ingest:correct'], 'acme/k1': ['markets:write'] },
    markets: { 'acme/k1': ['a', 'fx-*'] },
  }));
});

const remove = (slug: string, body: unknown = { reason: REASON }, more: { as?: string; key?: string } = {}) =>
  world.call({ method: 'POST', path: `/api/v1/markets/${slug}/removal`, as: 'operator', body, ...more });

async function bodyOf(url: string) {
  const { status, headers, body } = await read(url);
  return { status, headers, json: JSON.parse(Buffer.from(body).toString('utf8')) };
}

async function listed(): Promise<readonly string[]> {
  const slugs: string[] = [];
  for (let url = MARKETS_URL; ; ) {
    const { json } = await bodyOf(url);
    slugs.push(...json.data.map(({ slug }: { slug: string }) => slug));
    if (json.page.nextCursor === null) return slugs;
    url = `${MARKETS_URL}?cursor=${json.page.nextCursor}`;
  }
}

async function sendBatch(records: readonly IngestRecordInput[]): Promise<string> {
  const body = { records };
  const { status, json } = await world.call({ method: 'POST', path: '/api/v1/ingest/batches', as: 'operator', body });
  expect(status).toBe(202);
  return json.id;
}

async function reportOf(id: string) {
  await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
  return (await world.call({ path: `/api/v1/ingest/batches/${id}`, as: 'operator' })).json;
}

async function expectVerified(...removed: string[]) {
  const report = await verify(read, { pageSizes: SMALL_PAGES, settled: true, removed });
  expect(report.findings).toEqual([]);
}

describe('a removed market', () => {
  it('leaves the list, and its URLs answer 410 with the reason and the replacement', async () => {
    const answer = await remove('b', { reason: ` ${REASON} `, replacedBy: 'c' });
    const removal = { reason: REASON, replacedBy: 'c', removedAt: new Date(world.nowMs).toISOString() };
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ slug: 'b', ...removal, revision: 10 });
    await publish(dependencies);
    expect(await listed()).toEqual(['a', 'c', 'd', 'e']);
    for (const url of [marketUrl('b'), historyUrl('b')]) {
      const { status, headers, json } = await bodyOf(url);
      expect(status).toBe(410);
      expect(json).toEqual({
        type: '/problems/market-removed',
        title: 'Market removed',
        status: 410,
        code: 'market-removed',
        detail: `This market was removed. Read /api/v1/markets/c instead. Its operator says why: ${REASON}`,
        ...removal,
      });
      expect(headers.get('content-type')).toBe(PROBLEM_CONTENT_TYPE);
      expect(headers.get('cache-control')).toBe('public, max-age=15, stale-if-error=300');
      const etag = headers.get('etag') as string;
      expect(await read(url, { 'if-none-match': etag })).toMatchObject({ status: 304, body: new Uint8Array() });
    }
    expect((await bodyOf(SNAPSHOT_URL)).json.counts).toEqual({ markets: 4, observations: 1, unknownValues: 1 });
    await expectVerified('b');
    expect(await publish(dependencies)).toMatchObject({ kind: 'unchanged' });
  });

  it('keeps its history in the ledger', async () => {
    const before = await readAll(world.ledger, observationsOf('b'));
    await remove('b');
    await publish(dependencies);
    expect(await readAll(world.ledger, observationsOf('b'))).toEqual(before);
    expect((await world.ledger.get(marketKey('b')))?.value).toMatchObject({ observations: 9, name: 'Market b' });
  });

  it('leaves its pages to readers who are on their way through its history', async () => {
    const { json } = await bodyOf(historyUrl('b'));
    const url = `${historyUrl('b')}?cursor=${json.page.nextCursor}`;
    const before = await read(url);
    await remove('b');
    await publish(dependencies);
    expect(await read(url)).toEqual(before);
  });

  it('is 410 also if it was never published', async () => {
    await ingest(dependencies, [market('new')]);
    await remove('new');
    await publish(dependencies);
    expect((await bodyOf(marketUrl('new'))).status).toBe(410);
    expect(await listed()).not.toContain('new');
    await expectVerified('new');
  });
});

describe('a removal is refused', () => {
  it.each<[string, string, unknown, number, string, string?]>([
    ['of an unknown market', 'nowhere', { reason: REASON }, 404, 'not-found'],
    [
      'if a removed market would replace it',
      'b',
      { reason: REASON, replacedBy: 'e' },
      422,
      'validation-failed',
      'market.removed',
    ],
    ['of a market that is removed already', 'e', { reason: REASON }, 409, 'conflict'],
  ])('%s', async (_, slug, body, status, code, error) => {
    await remove('e');
    const before = await world.ledger.get(marketKey(slug));
    const answer = await remove(slug, body);
    expect(answer).toMatchObject({ status, json: { code } });
    if (error !== undefined) expect(answer.json.errors).toMatchObject([{ pointer: '/replacedBy', code: error }]);
    expect(await world.ledger.get(marketKey(slug))).toEqual(before);
  });

  it('to one of two markets that would replace each other at the same moment', async () => {
    const answers = await Promise.all([
      remove('a', { reason: REASON, replacedBy: 'b' }),
      remove('b', { reason: REASON, replacedBy: 'a' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});

describe('a batch that waits while its market is removed', () => {
  it('is refused, and its report names the market that replaces it', async () => {
    const id = await sendBatch([price('b', 40, 7)]);
    await remove('b', { reason: REASON, replacedBy: 'c' });
    const detail = expect.stringContaining('use c');
    expect(await reportOf(id)).toMatchObject({ state: 'refused', errors: [{ code: 'market.removed', detail }] });
  });

  it('is told its generation if it was applied before the removal', async () => {
    const id = await sendBatch([price('b', 40, 7)]);
    expect((await reportOf(id)).state).toBe('applied');
    await remove('b');
    const { generation } = await publish(dependencies);
    expect(await reportOf(id)).toMatchObject({ state: 'applied', generation });
  });
});

describe('what people have on a removed market', () => {
  const claim = (as: string) =>
    world.call({
      method: 'POST',
      path: '/api/v1/claims',
      as,
      body: {
        assertion: { type: 'representation', market: 'b', name: 'Desk of b', reason: 'we run it' },
        evidence: [],
      },
    });
  const decide = (id: string, outcome: string) =>
    world.call({
      method: 'POST',
      path: `/api/v1/claims/${id}/decision`,
      as: 'rita',
      headers: { 'if-match': '*' },
      body: { outcome, note: 'the market is gone' },
    });

  it('a watchlist keeps it and takes it, because its URL says what replaces it', async () => {
    const lists = '/api/v1/watchlists';
    const body = { name: 'Fuel', markets: ['a', 'b'] };
    const { json } = await world.call({ method: 'POST', path: lists, body });
    await remove('b');
    const path = `${lists}/${json.id}`;
    expect((await world.call({ path })).json.markets).toEqual(['a', 'b']);
    const renamed = { ...body, name: 'Fuels' };
    const replaced = await world.call({ method: 'PUT', path, body: renamed, headers: { 'if-match': '"1"' } });
    expect(replaced).toMatchObject({ status: 200, json: { name: 'Fuels', markets: ['a', 'b'] } });
    const left = await world.call({ method: 'DELETE', path: `${path}/markets/b` });
    expect(left.json.markets).toEqual(['a']);
  });

  it('a claim cannot be filed any more', async () => {
    await remove('b');
    const answer = await claim('alice');
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ code: 'market.removed' }] } });
  });

  it('an earlier claim cannot be accepted; it can be rejected and withdrawn', async () => {
    const [first, second] = [(await claim('alice')).json.id, (await claim('bob')).json.id];
    const review = { method: 'POST', path: `/api/v1/claims/${first}/review`, as: 'rita', body: { action: 'start' } };
    await world.call({ ...review, headers: { 'if-match': '*' } });
    await remove('b');
    expect(await decide(first, 'accepted')).toMatchObject({ status: 409, json: { code: 'conflict' } });
    expect(await decide(first, 'rejected')).toMatchObject({ status: 200, json: { state: 'rejected' } });
    const withdrawal = { method: 'POST', path: `/api/v1/claims/${second}/withdrawal`, as: 'bob' };
    expect((await world.call({ ...withdrawal, headers: { 'if-match': '*' } })).status).toBe(200);
  });

  it('a source verification is refused', async () => {
    await remove('b');
    const subject = { type: 'observation', metric: 'price', observedAt: '2026-01-01T00:00:00Z' };
    const body = {
      market: 'b',
      subject: { ...subject, sourceUrl: 'https://example.com/b' },
      outcome: 'confirmed',
      verifiedAt: new Date(world.nowMs).toISOString(),
    };
    const answer = await world.call({ method: 'POST', path: '/api/v1/source-verifications', as: 'operator', body });
    expect(answer).toMatchObject({ status: 422, json: { errors: [{ pointer: '/market', code: 'market.removed' }] } });
  });

  it('a publication of it changes nothing', async () => {
    await remove('b');
    await publish(dependencies);
    const body = { markets: ['b'] };
    const { json } = await world.call({ method: 'POST', path: '/api/v1/publications', as: 'operator', body });
    await workOff({ ledger: world.ledger, nowMs: () => world.nowMs });
    const { kind, generation } = await publish(dependencies);
    expect(kind).toBe('unchanged');
    const told = await world.call({ path: `/api/v1/publications/${json.id}`, as: 'operator' });
    expect(told.json).toMatchObject({ state: 'published', generation });
    await expectVerified('b');
  });
});

it('a market that replaces a removed one can be removed too', async () => {
  await remove('a', { reason: REASON, replacedBy: 'b' });
  expect((await remove('b', { reason: REASON, replacedBy: 'c' })).status).toBe(200);
  await publish(dependencies);
  await expectVerified('a', 'b');
});
