/** Prices of language models in the layout of LiteLLM's map: now, and at the end of each day with a change. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { modelsName } from '../../../publisher/projections/compat/names.ts';
import { COMPAT_DAY_KEY, type CompatDayValue } from '../../../storage/records/compat.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price } from '../world.ts';
import { compatWorld, DAY_MS } from './compat-world.ts';

const source = { sourceLabel: 'List', sourceUrl: 'https://example.com/list' };

function model(slug: string, name: string, mode: string | null = 'chat', quantity = 10_000_000): IngestRecordInput {
  const attributes = mode === null ? {} : { mode: { value: mode, ...source, observedAt: '2026-01-01T00:00:00Z' } };
  const own = { name, kind: 'language-model', unit: { quantity, of: 'token' }, attributes };
  return { ...market(slug), ...own } as IngestRecordInput;
}

/** @param value for one token, or a number of tokens. Null: not listed any more */
function said(slug: string, metric: string, day: string, value: string | null): IngestRecordInput {
  const number = metric.endsWith('Price') ? { currency: 'USD', quotedQuantity: 1 } : { unit: 'token' };
  const unknown = value === null ? { unknownReason: 'no-longer-listed' } : {};
  const times = { observedAt: `2026-${day}T12:00:00Z` };
  const words = { confidence: 'high', status: 'final', zeroAsserted: true, outlierConfirmed: true } as const;
  return {
    type: 'observation',
    market: slug,
    metric,
    value,
    ...number,
    ...unknown,
    ...times,
    ...source,
    ...words,
  } as never;
}

const NO_DAY: CompatDayValue = { date: '', codes: [] };

const WORLD = [
  model('a', 'vendor/a'),
  model('b', 'b', null),
  market('gold'),
  price('gold', 0, 5),
  said('a', 'inputPrice', '01-02', '0.0000015'),
  said('a', 'outputPrice', '01-02', '0.000000075'),
  said('a', 'inputPrice', '01-05', '0.000001'),
  said('b', 'inputPrice', '01-03', '0'),
  said('b', 'maxOutput', '01-03', '8192'),
  said('b', 'inputPrice', '01-05', null),
];

async function worldWithModels() {
  const world = compatWorld();
  await world.ingest(WORLD);
  await world.nextDay();
  return world;
}

test.each(['__proto__', 'constructor'])('a model with the name %s is one like others', async (name) => {
  const world = compatWorld();
  await world.ingest([
    model('a', name),
    model('b', 'b'),
    ...['a', 'b'].map((slug) => said(slug, 'inputPrice', '01-02', '1')),
  ]);
  await world.nextDay();
  expect(await world.file('/litellm/latest.json')).toContain(`"${name}":{"input_cost_per_token":1,"mode":"chat"}`);
  expect(await world.findings()).toEqual([]);
});

test('each day has the numbers of its end, with their exact digits; the newest has no more than is known', async () => {
  const world = await worldWithModels();
  const a = '"vendor/a":{"input_cost_per_token":0.0000015,"mode":"chat","output_cost_per_token":7.5e-8}';
  const b = '"b":{"input_cost_per_token":0,"max_output_tokens":8192,"max_tokens":8192}';
  expect(await world.file('/litellm/2026-01-02.json')).toBe(`{${a}}`);
  expect(await world.file('/litellm/2026-01-03.json')).toBe(`{${b},${a}}`);
  expect(await world.file('/litellm/2026-01-04.json')).toBe('404');
  expect(await world.fileJson('/litellm/2026-01-05.json')).toEqual({
    b: { max_output_tokens: 8192, max_tokens: 8192 },
    'vendor/a': { input_cost_per_token: 0.000001, output_cost_per_token: 0.000000075, mode: 'chat' },
  });
  expect(await world.file('/litellm/latest.json')).toBe(await world.file('/litellm/2026-01-05.json'));
  expect(await world.fileJson('/litellm/index.json')).toMatchObject({
    days: {
      '2026-01-02': expect.any(String),
      '2026-01-03': expect.any(String),
      '2026-01-05': expect.any(String),
    },
    markets: { a: expect.any(Number), b: expect.any(Number) },
  });
  expect(await world.findings()).toEqual([]);
});

test('a price that is published while the files are made is not in them', async () => {
  const world = compatWorld();
  await world.ingest(WORLD);
  const later = [() => world.ingest([said('a', 'inputPrice', '01-04', '0.000002')])];
  await world.nextDay({
    async yieldToEventLoop() {
      await later.pop()?.();
      await world.publishAll();
    },
  });
  expect(await world.file('/litellm/2026-01-04.json')).toBe('404');
  await world.nextDay();
  expect(await world.findings()).toEqual([]);
});

describe('a price that minor units cannot hold', () => {
  const halfADollar = { quotedQuantity: 1_000_000 };
  const cases = [
    ['of one token', '1.4e-10', {}, 1.4e-10, 0.00014],
    ['of a million tokens', '0.00064', halfADollar, 6.4e-10, 0.00064],
    ['with the digits of a float', '1.6000000000000001e-06', {}, 1.6000000000000001e-6, 1.6],
  ] as const;

  test.each(cases)('%s has the digits of its source', async (_, value, fields, ofToken, ofMillion) => {
    const world = compatWorld();
    const of = { provider: { value: 'vendor', ...source, observedAt: '2026-01-01T00:00:00Z' } };
    const market = { ...model('a', 'a', 'chat', 1_000_000_000), attributes: of } as IngestRecordInput;
    await world.ingest([market, { ...said('a', 'inputPrice', '01-02', value), ...fields } as IngestRecordInput]);
    await world.nextDay();
    expect(await world.fileJson('/litellm/latest.json')).toMatchObject({ a: { input_cost_per_token: ofToken } });
    expect(await world.fileJson('/genai-prices/latest.json')).toMatchObject([
      { models: [{ prices: [{ prices: { input_mtok: ofMillion } }] }] },
    ]);
    expect(await world.findings()).toEqual([]);
  });

  test('has them after an update, too, although no market has changed', async () => {
    const world = await worldWithModels();
    await world.forge(publicKey(modelsName('latest')), (body) => body.toString().replace('7.5e-8', '8e-8'));
    const { models, ...value } = (await world.ledger.get(COMPAT_DAY_KEY))?.value ?? NO_DAY;
    expect(models).toBe(2);
    await world.ledger.transact([{ kind: 'put', key: COMPAT_DAY_KEY, revision: 0, value, if: { kind: 'any' } }], {
      attemptId: 'earlier-version',
    });
    await makeCompat({ storage: world.dependencies });
    expect(await world.findings()).toEqual([]);
  });
});

describe('a later day', () => {
  const models = (paths: readonly string[]) => paths.filter((path) => path.startsWith('/litellm/'));

  test('puts nothing without news, and with news the days that it changes', async () => {
    const world = await worldWithModels();
    await world.ingest([price('gold', 1, 6)]);
    expect(models(await world.nextDay())).toEqual([]);
    await world.ingest([said('a', 'inputPrice', '01-08', '0.000002')]);
    const written = ['/litellm/2026-01-08.json', '/litellm/latest.json', '/litellm/index.json'];
    expect(models(await world.nextDay())).toEqual(written);
    await world.ingest([said('b', 'inputPrice', '01-04', '0.000003')]);
    // At the ends of the later days, b says the same as before.
    expect(models(await world.nextDay())).toEqual(['/litellm/2026-01-04.json', '/litellm/index.json']);
    expect(await world.findings()).toEqual([]);
  });

  test('has other facts in the newest file alone, and keeps the days for good', async () => {
    const world = await worldWithModels();
    const changed = { mode: { value: 'responses', ...source, observedAt: '2026-02-01T00:00:00Z' } };
    await world.ingest([{ ...model('a', 'vendor/a'), attributes: changed } as IngestRecordInput]);
    expect(models(await world.nextDay())).toEqual(['/litellm/latest.json', '/litellm/index.json']);
    expect(await world.fileJson('/litellm/latest.json')).toMatchObject({ 'vendor/a': { mode: 'responses' } });
    expect(await world.fileJson('/litellm/2026-01-05.json')).toMatchObject({ 'vendor/a': { mode: 'chat' } });
    world.clock.nowMs += 100 * DAY_MS;
    await collectGarbage(world.dependencies, { dryRun: false });
    expect(await world.fileJson('/litellm/2026-01-02.json')).toHaveProperty('vendor/a');
    expect(await world.findings()).toEqual([]);
  });

  test('puts back files that are lost, and leaves a removed market out of all', async () => {
    const world = await worldWithModels();
    await world.lose(publicKey(modelsName('latest')));
    await world.lose(publicKey(modelsName('2026-01-05')));
    expect(models(await world.nextDay())).toEqual(['/litellm/2026-01-05.json', '/litellm/latest.json']);
    await removeMarket(world, 'b');
    await world.nextDay();
    for (const file of ['2026-01-02', '2026-01-03', '2026-01-05', 'latest'])
      expect(Object.keys(await world.fileJson(`/litellm/${file}.json`))).toEqual(['vendor/a']);
    expect(Object.keys((await world.fileJson<{ markets: object }>('/litellm/index.json')).markets)).toEqual(['a']);
    expect(await world.findings()).toEqual([]);
    await removeMarket(world, 'a');
    await world.nextDay();
    for (const file of ['2026-01-02', '2026-01-03', '2026-01-05', 'latest'])
      expect(await world.fileJson(`/litellm/${file}.json`)).toEqual({});
    expect(await world.findings()).toEqual([]);
    expect(models(await world.nextDay())).toEqual([]);
  });
});

test.each([
  ['a day with another number', '2026-01-02', '0.0000015', '0.0000016'],
  ['the newest with another fact', 'latest', '"chat"', '"batch"'],
  ['an index without a day', 'index', /"2026-01-03":"[0-9a-f]{16}",/, ''],
])('verify finds %s', async (_, file, part, other) => {
  const world = await worldWithModels();
  await world.forge(publicKey(modelsName(file)), (body) => body.toString().replace(part, other));
  const findings = await world.findings();
  expect(findings.map(({ url, rule }) => [url, rule])).toEqual([[`/api/v1/compat/litellm/${file}.json`, 'file']]);
});
