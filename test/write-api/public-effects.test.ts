/** The public effects of accepted claims and source verifications, read through the edge's router. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Market } from '../../contract/values/market.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { publish } from '../../publisher/publish.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { createWorld, publicObjects, readerOf, SMALL_PAGES, type World } from '../publisher/world.ts';
import {
  ASSERTIONS,
  act,
  CLAIM_TYPES,
  type ClaimType,
  dirtyMarks,
  file,
  filed,
  priceOn,
  priceRecord,
  RECORDS,
} from './claim-world.ts';
import { type ApiWorld, openApiWorld, START_MS } from './world.ts';

const MARKET = '/api/v1/markets/gold-usd';
const HISTORY = `${MARKET}/history`;

let published: World;
let api: ApiWorld;
let reader: PublicReader;

beforeEach(async () => {
  published = createWorld();
  published.clock.nowMs = START_MS;
  // More than a page of history, so that a correction may change a closed page.
  await published.ingest([...RECORDS, ...[11, 12, 13, 14, 15].map((day) => priceRecord(day, 400000 + day))]);
  await publish(published.dependencies);
  api = openApiWorld({ ledger: published.ledger, process: 'api' });
  reader = readerOf(published.objects);
});

async function read<Body>(url: string): Promise<Body> {
  const { status, body } = await reader(url);
  expect(status).toBe(200);
  return JSON.parse(Buffer.from(body).toString('utf8')) as Body;
}

const market = () => read<Market>(MARKET);

/** The whole history, newest first, page by page. */
async function history(): Promise<readonly Observation[]> {
  const all: Observation[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const url: string = cursor === '' ? HISTORY : `${HISTORY}?cursor=${cursor}`;
    const page: { data: Observation[]; page: { nextCursor: string | null } } = await read(url);
    all.push(...page.data);
    cursor = page.page.nextCursor;
  }
  return all;
}

/** Publishes, and checks that only marked markets change and that `verify` finds nothing. */
async function follow(): Promise<void> {
  await publish(published.dependencies);
  expect(await dirtyMarks(published.ledger)).toEqual([]);
  const { findings } = await verify(reader, { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toEqual([]);
  // In the list it is the same object.
  const list = await read<{ data: Market[] }>('/api/v1/markets');
  expect(list.data.find(({ slug }) => slug === 'gold-usd')).toEqual(await market());
}

/** Alice files it, Rita accepts it. */
async function accept(assertion: object): Promise<string> {
  const id = await filed(api, assertion);
  expect((await act(api, id, 'start')).status).toBe(200);
  expect((await act(api, id, 'accept')).status).toBe(200);
  return id;
}

async function verification(body: object): Promise<string> {
  const whole = { market: 'gold-usd', found: 'secret-found', note: 'secret-note', ...body };
  const path = '/api/v1/source-verifications';
  const { status, json } = await api.call({ method: 'POST', path, as: 'vera', body: whole });
  expect(status).toBe(201);
  return json.id;
}

const LATEST_PRICE = { type: 'observation', ...priceOn(18) };

describe('in public', () => {
  it('an accepted correction reaches an observation on a closed page', async () => {
    const before = await market();
    await accept({ ...ASSERTIONS.correction, ...priceOn(12) });
    await follow();
    expect((await market()).metrics).toEqual(before.metrics);
    const versions = (await history()).filter(({ observedAt }) => observedAt === priceOn(12).observedAt);
    expect(versions).toMatchObject([{ amountMinor: 419210 }, { amountMinor: 400012 }]);
  });

  it('an accepted dispute marks the metric, and a correction settles it', async () => {
    expect(await market()).toMatchObject({ disputed: false, disputedMetrics: [] });
    await accept(ASSERTIONS.dispute);
    await accept({ ...ASSERTIONS.dispute, metric: 'volume' });
    await follow();
    expect(await market()).toMatchObject({ disputed: true, disputedMetrics: ['price', 'volume'] });
    await accept(ASSERTIONS.representation);
    await accept(ASSERTIONS.correction);
    await follow();
    expect(await market()).toMatchObject({ disputed: true, disputedMetrics: ['volume'] });
    expect((await market()).representedBy).toBe(ASSERTIONS.representation.name);
  });

  it('a mismatch marks the metric, until the source confirms it', async () => {
    await verification({ subject: LATEST_PRICE, outcome: 'mismatch', verifiedAt: '2026-11-20T10:00:00Z' });
    await follow();
    expect(await market()).toMatchObject({ disputed: true, disputedMetrics: ['price'] });
    await verification({ subject: LATEST_PRICE, outcome: 'confirmed', verifiedAt: '2026-11-20T11:00:00Z' });
    await follow();
    expect(await market()).toMatchObject({ disputed: false, disputedMetrics: [] });
  });

  it('a claim without a public effect publishes nothing', async () => {
    await verification({ subject: LATEST_PRICE, outcome: 'confirmed', verifiedAt: '2026-11-20T11:00:00Z' });
    await follow();
    const before = publicObjects(published.objects);
    await verification({ subject: LATEST_PRICE, outcome: 'mismatch', verifiedAt: '2026-11-20T10:00:00Z' });
    await act(api, await filed(api, ASSERTIONS.correction), 'start');
    for (const type of CLAIM_TYPES) {
      await act(api, await filed(api, ASSERTIONS[type]), 'withdraw');
      const rejected = await filed(api, ASSERTIONS[type]);
      for (const action of ['start', 'reject'] as const) await act(api, rejected, action);
    }
    expect((await publish(published.dependencies)).kind).toBe('unchanged');
    expect(publicObjects(published.objects)).toEqual(before);
  });

  it('nothing public shows who claimed or verified, their texts, or an id', async () => {
    const ids: string[] = [];
    for (const type of CLAIM_TYPES satisfies readonly ClaimType[]) {
      const { json } = await file(api, ASSERTIONS[type], 'alice', [
        { url: 'https://evidence.example/', note: 'secret-note' },
      ]);
      ids.push(json.id);
      for (const action of ['start', 'request-evidence', 'add-evidence', 'accept'] as const) {
        expect((await act(api, json.id, action)).status).toBe(200);
      }
    }
    ids.push(await verification({ subject: LATEST_PRICE, outcome: 'mismatch', verifiedAt: '2026-11-20T11:00:00Z' }));
    await follow();
    const bytes = [...publicObjects(published.objects).values()].join('\n');
    for (const hidden of [...ids, 'secret-', 'evidence.example', 'alice', 'rita', 'vera', 'claim_', 'verification_']) {
      expect(bytes).not.toContain(hidden);
    }
    // The only text of a claim that becomes public.
    expect(bytes).toContain('Bullion Desk Ltd');
  });
});
