/** Every listing is walked page by page, by cursors that are of use to nobody else and for nothing else. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { ReadOperationId } from '../../contract/operations/operations.ts';
import { operationOf } from '../../contract/operations/operations.ts';
import { LISTING_PAGE_SIZE } from '../../contract/operations/resources.ts';
import { ALL_FEATURES } from '../../contract/values/features.ts';
import { newRun, newRunChanges } from '../../lambdas/sources/source-runs.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { grant } from './seeds.ts';
import { API_OPERATIONS, type ApiOperationId, seedWorld, validCall } from './valid-calls.ts';
import { type Answer, type ApiWorld, type Call, openApiWorld } from './world.ts';

/** Two full pages, and one more. */
const COUNT = 2 * LISTING_PAGE_SIZE + 1;

interface Listing {
  /** The write that adds one, or another way to do it. */
  readonly by: ApiOperationId | ((world: ApiWorld, index: number) => Promise<unknown>);
  readonly query?: string;
  /** Of another listing of the same operation. */
  readonly otherQuery?: string;
  /** Default: newest first. */
  readonly order?: 'oldest-first' | 'by-id';
  readonly path?: string;
}

const name = (index: number) => `metals-${String(index).padStart(3, '0')}`;

const LISTINGS: readonly (readonly [ReadOperationId, Listing])[] = [
  ['listWatchlists', { by: 'createWatchlist' }],
  ['listClaims', { by: 'createClaim', otherQuery: 'state=submitted' }],
  ['listClaims', { by: 'createClaim', query: 'state=submitted', otherQuery: 'state=rejected' }],
  ['listSourceVerifications', { by: 'createSourceVerification', otherQuery: 'market=gold-usd' }],
  ['listSourceVerifications', { by: 'createSourceVerification', query: 'market=gold-usd' }],
  [
    'listSources',
    {
      order: 'oldest-first',
      by: async (world, index) => {
        const call = await validCall(world, 'putSource');
        const body = { ...(call.body as object), name: name(index) };
        return (await world.call({ ...call, path: `/api/v1/sources/${name(index)}`, body })).json.name;
      },
    },
  ],
  [
    'listSourceRuns',
    {
      path: '/api/v1/sources/metals/runs',
      by: async ({ ledger, nowMs }, index) => {
        const id = `run_${String(index).padStart(26, '0')}`;
        const run = newRun({ cause: 'request', createdAt: new Date(nowMs).toISOString(), attempt: 1 });
        await ledger.transact(newRunChanges('metals', id, run), { attemptId: id });
        return id;
      },
    },
  ],
  ['listTakedowns', { by: 'createTakedown', order: 'oldest-first' }],
  ['listWaitlistRequests', { by: 'createWaitlistRequest' }],
  ['listApiKeys', { by: 'createApiKey', order: 'by-id' }],
  [
    'listAuditRecords',
    { by: 'createErasure', order: 'by-id', query: 'actor=user:alice', otherQuery: 'actor=user:bob' },
  ],
];

const idOf = ({ id, name }: { readonly id?: string; readonly name?: string }) => id ?? name;
const refusal = ({ status, json }: Answer) => [status, json.code];

it('none is left out', () => {
  const listed = new Set<string>(LISTINGS.map(([id]) => id));
  expect(API_OPERATIONS.filter((id) => id.startsWith('list') && !listed.has(id))).toEqual([]);
});

describe.each(LISTINGS)('%s %j', (id, { by, query = '', otherQuery = 'market=tin-usd', order, path }) => {
  async function open() {
    const world = openApiWorld({ ledger: openMemoryLedger() });
    await seedWorld(world);
    await grant(world.ledger, 'user:alice', Object.fromEntries(ALL_FEATURES.map((feature) => [feature, 1_000])));
    const ids: string[] = [];
    const add = async () => {
      world.nowMs += 1;
      if (typeof by === 'function') ids.push((await by(world, ids.length)) as string);
      else {
        const { status, json } = await world.call(await validCall(world, by));
        expect(status, JSON.stringify(json)).toBeLessThan(300);
        ids.push(json.id);
      }
    };
    const page = (cursor: string | null, more: Partial<Call> = {}) => {
      const all = [more.query ?? query, cursor === null ? '' : `cursor=${encodeURIComponent(cursor)}`];
      return world.call({ path: path ?? operationOf(id).path, ...more, query: all.filter(Boolean).join('&') });
    };
    for (let count = 0; count < COUNT; count++) await add();
    return { world, ids, add, page };
  }

  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open();
  });

  it('gives each once, in order, in pages that stay as they are when another one comes', async () => {
    const { ids, add, page } = opened;
    const found: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const { status, json } = await page(cursor);
      expect(status).toBe(200);
      expect(json.data.length).toBeLessThanOrEqual(LISTING_PAGE_SIZE);
      found.push(...json.data.map(idOf));
      cursor = json.page.nextCursor;
      if (cursor === null) break;
    }
    if (order === 'by-id') expect(found).toEqual([...new Set(found)].sort().reverse());
    else expect(found).toEqual(order === 'oldest-first' ? ids : ids.toReversed());
    if (order === 'by-id') return;
    const { nextCursor } = (await page(null)).json.page;
    const before = await page(nextCursor);
    await add();
    if (order === undefined) expect((await page(nextCursor)).json.data).toEqual(before.json.data);
  });

  it('refuses its cursor with another credential, filter or path, for another listing, changed, or a day old', async () => {
    const { world, page } = opened;
    const { nextCursor } = (await page(null)).json.page;
    const others: readonly Partial<Call>[] = [
      { as: 'bob' },
      { as: 'alice/k1' },
      { path: id === 'listWatchlists' ? '/api/v1/claims' : '/api/v1/watchlists', query: '' },
      ...((query + otherQuery).includes('tin-usd') ? [] : [{ query: otherQuery }]),
      ...(path === undefined ? [] : [{ path: path.replace('metals', 'minerals') }]),
    ];
    for (const other of others)
      expect([other, ...refusal(await page(nextCursor, other))]).toEqual([other, 400, 'invalid-cursor']);
    const last = nextCursor.endsWith('A') ? 'Q' : 'A';
    // A decoder that is not strict does not see this change, if the last character has unused bits.
    const next = String.fromCharCode(nextCursor.charCodeAt(nextCursor.length - 1) + 1);
    for (const cursor of [
      `${nextCursor.slice(0, -1)}${last}`,
      `${nextCursor.slice(0, -1)}${next}`,
      nextCursor.slice(0, -4),
      `${nextCursor}AAAA`,
      'x',
    ]) {
      expect(refusal(await page(cursor))).toEqual([400, 'invalid-cursor']);
    }
    world.nowMs += 25 * 60 * 60 * 1000;
    expect(refusal(await page(nextCursor))).toEqual([404, 'not-found']);
  });
});
