/** The four times of an observation, and `updatedAt` of its market: from requests to public bodies. */
import { beforeEach, describe, expect, test } from 'vitest';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { workOff } from '../ingest/work-off.ts';
import { createWorld, readerOf, type World } from '../publisher/world.ts';
import { ASSERTIONS, act, DESK, filed, priceOn, priceRecord, RECORDS } from './claim-world.ts';
import { type ApiWorld, openApiWorld, START_MS } from './world.ts';

const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(START_MS + hours * HOUR_MS).toISOString();

let published: World;
let api: ApiWorld;

beforeEach(async () => {
  published = createWorld(DEFAULT_PAGE_SIZES);
  published.clock.nowMs = START_MS;
  await published.ingest(RECORDS);
  api = openApiWorld({ ledger: published.ledger, process: 'api' });
  await moveTo(0);
});

async function moveTo(hours: number): Promise<void> {
  published.clock.nowMs = START_MS + hours * HOUR_MS;
  api.nowMs = published.clock.nowMs;
}

const BATCHES = '/api/v1/ingest/batches';

/** Sends a batch, has it applied, and returns its report. */
async function send(records: readonly object[], options: { mode?: string; ndjson?: boolean } = {}) {
  const { mode = 'append', ndjson = false } = options;
  const lines = records.map((record) => JSON.stringify(record)).join('\n');
  const call = ndjson
    ? { body: lines, headers: { 'content-type': 'application/x-ndjson' }, query: `mode=${mode}` }
    : { body: { records, mode } };
  const { status, headers } = await api.call({ method: 'POST', path: BATCHES, as: 'operator', ...call });
  expect(status).toBe(202);
  await workOff({ ledger: api.ledger, nowMs: () => api.nowMs });
  return (await api.call({ path: headers.location as string, as: 'operator' })).json;
}

/** Publishes, and reads the market and the first page of its history. `verify` finds nothing. */
async function shown() {
  await publish(published.dependencies);
  const reader = readerOf(published.objects);
  const read = async (url: string) => JSON.parse(Buffer.from((await reader(url)).body).toString());
  const pageSizes = published.dependencies.pageSizes;
  expect((await verify(reader, { pageSizes, settled: true })).findings).toEqual([]);
  const prices = (await read(historyUrl('gold-usd'))).data.filter(
    ({ metric }: { metric: string }) => metric === 'price',
  );
  return { market: await read(marketUrl('gold-usd')), prices };
}

const RELEASED = '2026-11-19T14:30:00Z';
const released = (fields: object = {}) => ({ ...priceRecord(19, 413000), releasedAt: RELEASED, ...fields });

describe('releasedAt', () => {
  test.each([false, true])(
    'of a row shows in history and market, and is null without it (NDJSON: %s)',
    async (ndjson) => {
      expect(await send([released()], { ndjson })).toMatchObject({ state: 'applied' });
      const { market, prices } = await shown();
      expect(market.metrics.price).toMatchObject({ releasedAt: RELEASED, amountMinor: 413000 });
      expect(prices.map(({ releasedAt }: { releasedAt: unknown }) => releasedAt).slice(0, 2)).toEqual([RELEASED, null]);
    },
  );

  test.each<[string, string, object, object, object]>([
    ['the same in another spelling', 'append', {}, { releasedAt: '2026-11-19T14:30:00.000Z' }, { unchanged: 1 }],
    ['left out', 'append', {}, { releasedAt: undefined }, { unchanged: 1 }],
    ['left out', 'correct', {}, { releasedAt: undefined }, { unchanged: 1 }],
    ['another', 'append', {}, { releasedAt: '2026-11-19T15:00:00Z' }, { refused: 1 }],
    ['another', 'correct', {}, { releasedAt: '2026-11-19T15:00:00Z' }, { accepted: 1, corrected: 1 }],
    ['null', 'correct', {}, { releasedAt: null }, { accepted: 1, corrected: 1 }],
    ['stated at last', 'correct', { releasedAt: undefined }, {}, { accepted: 1, corrected: 1 }],
    ['left out, with another amount', 'correct', {}, { releasedAt: undefined, amountMinor: 1 }, { refused: 1 }],
  ])('%s, sent again in mode %s', async (_, mode, first, second, counts) => {
    await send([released(first)]);
    const report = await send([released(second)], { mode });
    expect(report.counts).toEqual({ accepted: 0, unchanged: 0, refused: 0, ...counts });
    const codes = report.errors.map(({ code }: { code: string }) => code);
    expect(codes.every((code: string) => code === 'conflict.existing' || code === 'outlier')).toBe(true);
  });

  test('of the new version is its own: a correction that leaves it out has none', async () => {
    await send([released()]);
    await send([released({ releasedAt: undefined, amountMinor: 413100 })], { mode: 'correct' });
    const { prices } = await shown();
    expect(prices.slice(0, 2)).toMatchObject([
      { amountMinor: 413100, releasedAt: null },
      { amountMinor: 413000, releasedAt: RELEASED },
    ]);
  });

  test.each<[string, object, readonly string[]]>([
    ['two days ahead of the clock', { releasedAt: '2026-11-22T12:00:01Z' }, ['date.future /records/0/releasedAt']],
    ['in 1899', { releasedAt: '1899-12-30T00:00:00Z' }, ['date.implausible /records/0/releasedAt']],
    ['in 1899, confirmed', { releasedAt: '1899-12-30T00:00:00Z', dateConfirmed: true }, []],
    [
      'six years before the moment that it is about',
      { releasedAt: '2020-01-01T00:00:00Z' },
      ['date.implausible /records/0/releasedAt'],
    ],
    ['six years before the moment, confirmed', { releasedAt: '2020-01-01T00:00:00Z', dateConfirmed: true }, []],
    ['before the moment that it is about', { releasedAt: '2026-11-18T11:42:00Z' }, []],
    ['years later', { ...priceOn(15), observedAt: '2016-11-15T00:00:00Z' }, []],
    ['a time with an offset', { releasedAt: '2026-11-19T14:30:00+01:00' }, ['record.invalid /records/0/releasedAt']],
  ])('%s', async (_, fields, expected) => {
    const { errors } = await send([released(fields)]);
    expect(errors.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`)).toEqual(
      expected,
    );
  });
});

describe('a claim', () => {
  const accept = async (assertion: object) => {
    const id = await filed(api, assertion);
    await act(api, id, 'start');
    expect((await act(api, id, 'accept')).status).toBe(200);
  };

  test('of a correction may state a release, and supersedes at the time of its decision', async () => {
    await moveTo(5);
    const { corrected, ...assertion } = ASSERTIONS.correction;
    await accept({ ...assertion, corrected: { ...corrected, releasedAt: RELEASED } });
    const { market, prices } = await shown();
    expect(prices.slice(0, 2)).toMatchObject([
      { releasedAt: RELEASED, recordedAt: at(5), supersededAt: null },
      { releasedAt: null, recordedAt: at(0), supersededAt: at(5) },
    ]);
    expect(market).toMatchObject({ updatedAt: at(5), metrics: { price: { releasedAt: RELEASED } } });
  });

  test.each([
    [{ kind: 'mistake' }, { amountMinor: 411000, observedAt: '2026-11-17T00:00:00Z' }],
    [{ kind: 'withdrawn' }, { amountMinor: null, unknownReason: 'withheld' }],
    [{}, { amountMinor: null, unknownReason: 'withheld' }],
  ])('of a retraction %j', async (kind, price) => {
    await accept({ ...ASSERTIONS.retraction, ...kind });
    const { market, prices } = await shown();
    expect(market.metrics.price).toMatchObject(price);
    expect(prices[0]).toMatchObject({
      amountMinor: null,
      retraction: null,
      ...('kind' in kind ? { retraction: kind.kind } : {}),
    });
  });
});

describe('updatedAt', () => {
  const verification = (outcome: string, verifiedAt: string) => {
    const body = {
      market: 'gold-usd',
      subject: { type: 'source', url: DESK.url },
      outcome,
      verifiedAt,
      found: null,
      note: null,
    };
    return api.call({ method: 'POST', path: '/api/v1/source-verifications', as: 'vera', body });
  };
  const accepted = async (assertion: object) => {
    const id = await filed(api, assertion);
    await act(api, id, 'start');
    await act(api, id, 'accept');
  };
  const definition = { ...RECORDS[0], name: 'Gold, again' };
  const retraction = { type: 'retraction', market: 'gold-usd', ...priceOn(16), reason: 'a misprint' };

  test.each<[string, () => Promise<unknown>]>([
    ['a new observation', () => send([priceRecord(19, 413000)])],
    ['an observation of an earlier day', () => send([priceRecord(11, 409000)])],
    ['a correction', () => send([priceRecord(16, 410001)], { mode: 'correct' })],
    ['a retraction', () => send([retraction])],
    ['a mistake', () => send([{ ...retraction, kind: 'mistake' }])],
    ['a new definition', () => send([definition])],
    ['a verification', () => verification('gone', '2026-11-20T11:00:00Z')],
    ['a dispute', () => accepted(ASSERTIONS.dispute)],
    ['a representation', () => accepted(ASSERTIONS.representation)],
  ])('moves with %s', async (_, change) => {
    expect((await shown()).market.updatedAt).toBe(at(0));
    await moveTo(7);
    await change();
    expect((await shown()).market.updatedAt).toBe(at(7));
  });

  test.each<[string, () => Promise<unknown>]>([
    ['rows that are unchanged', () => send(RECORDS, { mode: 'correct' })],
    ['rows that are refused', () => send([priceRecord(16, 410001)])],
    ['a claim that is not decided', () => filed(api, ASSERTIONS.dispute)],
    ['an older verification', () => verification('gone', '2026-10-01T00:00:00Z')],
    [
      'a publication of everything',
      () => api.call({ method: 'POST', path: '/api/v1/publications', as: 'operator', body: {} }),
    ],
  ])('does not move with %s', async (_, change) => {
    await verification('confirmed', '2026-11-20T11:00:00Z');
    const before = (await shown()).market;
    await moveTo(7);
    await change();
    await workOff({ ledger: api.ledger, nowMs: () => api.nowMs });
    expect((await shown()).market).toEqual(before);
  });
});
