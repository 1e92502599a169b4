/**
 * The recipes that are shipped, as they are, from a fetch over TLS to the records. The files have the exact form of the
 * real ones, and the numbers of the sample: those of the ECB are not at hand here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IngestRecordInput, MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { fetchSource } from '../../lambdas/sources/fetch/fetch-source.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';
import { deriveRecords } from '../../mapping/recipe/derive-records.ts';
import { parseRecipeText, type Recipe, urlOfRun } from '../../mapping/recipe/recipe.ts';
import {
  BRENT,
  currencyApiJson,
  ECB_DAILY,
  ENERGY_CHARTS,
  EURO_DAYS,
  ecbDailyZip,
  ecbHistoryZip,
  ecbXml,
  HMRC,
  MODELS_DEV,
} from './real-forms.ts';
import { type SourceServer, startSourceServer } from './source-server.ts';

const RECIPES = new URL('../../mapping/recipes/', import.meta.url);
const SAMPLE = new URL('../../mapping/sample/', import.meta.url);
const NAMES = readdirSync(RECIPES).map((file) => file.replace(/\.json$/, ''));

/** Beside those with several documents. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  'https://models.dev/api.json': MODELS_DEV,
  'https://api.energy-charts.info/price?bzn=DE-LU&start=2026-09-29&end=2026-09-30': ENERGY_CHARTS,
  'https://raw.githubusercontent.com/datasets/oil-prices/main/data/brent-daily.csv': BRENT,
  'https://www.trade-tariff.service.gov.uk/api/v2/exchange_rates/files/monthly_csv_2026-10.csv': HMRC,
  'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml': ecbXml(['2026-09-29']),
  'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml': ecbXml(['2026-09-29', '2026-09-15']),
};

const HOSTS = [
  ...['cdn.jsdelivr.net', 'www.ecb.europa.eu', 'raw.githubusercontent.com'],
  ...['models.dev', 'api.energy-charts.info', 'www.trade-tariff.service.gov.uk'],
];

/** Nine members of LiteLLM’s map as they stand in it: see litellm-map.LICENSE. */
const LITELLM_MAP = readFileSync(new URL('litellm-map.json', import.meta.url));

let server: SourceServer;

beforeAll(async () => {
  server = await startSourceServer(HOSTS, answer);
});
afterAll(() => server.end());

function answer(url: URL, response: ServerResponse): void {
  const found = bodyOf(url);
  if (found === null) response.writeHead(404).end();
  else response.writeHead(200, { etag: `"${found.length}"` }).end(found);
}

function bodyOf({ host, pathname, search }: URL): string | Buffer | null {
  const document = DOCUMENTS[`https://${host}${pathname}${search}`];
  if (document !== undefined) return document;
  if (host === 'www.ecb.europa.eu') {
    if (pathname === '/stats/eurofxref/eurofxref.zip') return ecbDailyZip('2026-09-29');
    return pathname === '/stats/eurofxref/eurofxref-hist.zip' ? ecbHistoryZip() : null;
  }
  if (host === 'raw.githubusercontent.com') {
    return pathname === '/BerriAI/litellm/main/model_prices_and_context_window.json' ? LITELLM_MAP : null;
  }
  const [, day = '', base = ''] = /currency-api@([\d-]+)\/v1\/currencies\/([a-z]+)\.json$/.exec(pathname) ?? [];
  return currencyApiJson(base, day);
}

function recipeNamed(name: string): Recipe {
  const result = parseRecipeText(readFileSync(new URL(`${name}.json`, RECIPES), 'utf8'));
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.recipe;
}

/** The records of one run. A refused row fails the test. */
async function run(name: string, date: string): Promise<IngestRecordInput[]> {
  const recipe = recipeNamed(name);
  const { hosts, limits } = recipe;
  const request = { url: urlOfRun(recipe, date), hosts, ...limits, etag: null, lastModified: null };
  const fetched = await fetchSource(request, server.network);
  if (fetched.kind !== 'answer') throw new Error(JSON.stringify(fetched));
  const records: IngestRecordInput[] = [];
  for await (const result of deriveRecords(recipe, only(fetched.bytes), { date })) {
    if (result.kind === 'refusal') throw new Error(JSON.stringify(result));
    records.push(result.record);
  }
  return records;
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The sample's records of one day and base, as the service has them beside those of the recipe. */
async function sampleRecords(base: string, day: string): Promise<IngestRecordInput[]> {
  const mapping = parseMappingText(readFileSync(new URL('mapping.json', SAMPLE), 'utf8'));
  if ('faults' in mapping) throw new Error(JSON.stringify(mapping.faults));
  const [header, ...lines] = readFileSync(new URL('currency-api.csv', SAMPLE), 'utf8').split('\n');
  const rows = lines.filter((line) => line.includes(`,${day},${base},`));
  const records: IngestRecordInput[] = [];
  for await (const result of mapCsv(mapping.mapping, [header, ...rows].join('\n'))) {
    if (result.kind === 'record') records.push(result.record);
  }
  return records;
}

const isMarket = (record: IngestRecordInput): record is MarketRecord => record.type === 'market';
const sorted = (records: readonly object[]) => records.map((record) => JSON.stringify(record)).sort();

describe('a shipped recipe', () => {
  test.each(NAMES)('%s has no fault, and the name of its file', (name) => {
    expect(recipeNamed(name).name).toBe(name);
  });
});

describe.each(['eur', 'usd', 'xau'])('currency-api-%s', (base) => {
  test.each(['2024-03-02', '2026-09-29'])(
    'of %s gives the observations of the sample, so they are known already',
    async (day) => {
      const [records, known] = [await run(`currency-api-${base}`, day), await sampleRecords(base, day)];
      const observations = (all: readonly IngestRecordInput[]) => sorted(all.filter((record) => !isMarket(record)));
      expect(observations(records)).toEqual(observations(known));
      expect(observations(records).length).toBeGreaterThan(4);
    },
  );

  test('defines its markets as the sample does, and adds the cadence', async () => {
    const cadence = { period: 'day', releaseTime: '12:00', graceSeconds: 43_200 };
    const [records, known] = [await run(`currency-api-${base}`, '2026-09-29'), await sampleRecords(base, '2026-09-29')];
    const withCadence = known.filter(isMarket).map((market) => ({
      ...market,
      sources: (market.sources ?? []).map((source) => ({ ...source, cadence: expect.objectContaining(cadence) })),
    }));
    expect(records.filter(isMarket)).toEqual(expect.arrayContaining(withCadence));
    expect(records.filter(isMarket)).toHaveLength(withCadence.length);
  });
});

describe('the reference rates of the ECB', () => {
  test('of one day are the same records from both files, so none corrects the other', async () => {
    const [daily, history] = [await run('ecb-daily', '2026-09-29'), await run('ecb-history', '2026-09-29')];
    const known = new Set(sorted(history));
    expect(daily).toHaveLength(2 * ECB_DAILY.length);
    expect(sorted(daily).filter((record) => !known.has(record))).toEqual([]);
  });

  test('are the same records from the XML documents', async () => {
    const known = new Set(sorted(await run('ecb-history', '2026-09-29')));
    const [day, days] = [await run('ecb-daily-xml', '2026-09-29'), await run('ecb-90-days', '2026-09-29')];
    expect(day).toHaveLength(2 * ECB_DAILY.length);
    expect(days).toHaveLength(3 * ECB_DAILY.length);
    expect(sorted([...day, ...days]).filter((record) => !known.has(record))).toEqual([]);
  });

  test('of all days leave out the currencies that have no rate', async () => {
    const history = await run('ecb-history', '2026-09-29');
    expect(history.filter(isMarket).map(({ nativeCurrency }) => nativeCurrency)).toEqual(ECB_DAILY);
    expect(history.filter((record) => !isMarket(record)).length).toBe(EURO_DAYS * ECB_DAILY.length);
    expect(history[0]).toMatchObject({ slug: 'ecb-eur-usd', unit: { quantity: 1000, of: 'EUR' } });
    expect(history[1]).toMatchObject({ market: 'ecb-eur-usd', observedAt: '2026-09-29T00:00:00Z', currency: 'USD' });
  });
});

describe('the map of LiteLLM', () => {
  const wordsOf = (record: IngestRecordInput) => {
    if (isMarket(record)) return `${record.slug} = ${record.name} for ${record.unit.quantity} ${record.unit.of}`;
    const { metric, value } = record as { metric: string; value: string };
    return `${metric} ${value}`;
  };

  test('gives one market a model, with the digits of the map', async () => {
    const records = await run('litellm', '2026-11-26');
    const words = records.map(wordsOf);
    expect(words.slice(0, 7)).toEqual([
      ...[
        'gpt-4o = gpt-4o for 1000000000000 token',
        'inputPrice 2.5e-06',
        'outputPrice 1e-05',
        'cacheReadPrice 1.25e-06',
      ],
      ...['contextWindow 128000', 'maxOutput 16384', 'azure-gpt-4o-d018f83b = azure/gpt-4o for 1000000000000 token'],
    ]);
    expect(words).toContain('inputPrice 1.6000000000000001e-06');
    // The first member describes the fields, and one has a price for an image only.
    expect(records.filter(isMarket)).toHaveLength(7);
    expect(records.filter(isMarket)[0]?.sources).toMatchObject([{ publisher: 'BerriAI', licence: 'MIT' }]);
  });
});

describe('a shipped recipe gives', () => {
  /** `slug = name` of a market, `slug metric value moment` of a value. */
  const wordsOf = (record: IngestRecordInput) => {
    if (isMarket(record)) return `${record.slug} = ${record.name}`;
    const { market, metric, value, amountMinor, observedAt, announced } = record as unknown as Record<string, string>;
    return [market, metric, value ?? amountMinor, observedAt, ...(announced ? [announced] : [])].join(' ');
  };

  test('the models of each provider, with their prices for a million tokens', async () => {
    const records = await run('models-dev', '2026-09-29');
    const at = '2026-09-29T00:00:00Z';
    const [, ofGroq] = records.filter(isMarket).map(({ slug }) => slug);
    const [gpt = '', ...others] = records.filter(isMarket).map(({ slug }) => slug);
    expect([gpt, ...others]).toEqual([
      expect.stringMatching(/^openai-gpt-4o-[0-9a-f]{8}$/),
      expect.stringMatching(/^groq-openai-gpt-oss-20b-[0-9a-f]{8}$/),
      expect.stringMatching(/^groq-whisper-large-v3-[0-9a-f]{8}$/),
    ]);
    const words = records.map(wordsOf);
    expect(words.slice(0, 6)).toEqual([
      ...[`${gpt} = gpt-4o, openai`, `${gpt} inputPrice 2.5 ${at}`, `${gpt} outputPrice 10 ${at}`],
      ...[`${gpt} cacheReadPrice 1.25 ${at}`, `${gpt} contextWindow 128000 ${at}`, `${gpt} maxOutput 16384 ${at}`],
    ]);
    expect(words).toContain(`${ofGroq} cacheWritePrice 0.0125 ${at}`);
    expect(records.filter(isMarket)[0]?.unit).toEqual({ quantity: 1_000_000_000_000, of: 'token' });
  });

  test('the prices of power of today and tomorrow', async () => {
    expect((await run('energy-charts-de-lu', '2026-09-29')).map(wordsOf)).toEqual([
      'power-de-lu = Electricity, day-ahead, Germany and Luxembourg',
      'power-de-lu price 8831 2026-09-28T22:00:00Z when-ahead',
      'power-de-lu price 0 2026-09-28T22:15:00Z when-ahead',
      'power-de-lu price -499 2026-09-29T22:00:00Z when-ahead',
    ]);
  });

  test('the price of a barrel of oil', async () => {
    expect((await run('brent-daily', '2026-09-29')).map(wordsOf)).toEqual([
      ...['brent-usd = Brent crude oil, spot', 'brent-usd price 1863 1987-05-20T00:00:00Z'],
      ...['brent-usd price 1860 1987-05-25T00:00:00Z', 'brent-usd price 7150 2026-09-21T00:00:00Z'],
      'brent-usd price 7200 2026-09-22T00:00:00Z',
    ]);
  });

  test('the customs rates of the next month', async () => {
    const words = (await run('hmrc-monthly', '2026-09-29')).map(wordsOf);
    expect(words).toContain('hmrc-gbp-usd price 134210 2026-10-01T00:00:00Z when-ahead');
    // A row a country, and one rate a currency.
    expect(words).toHaveLength(6);
  });
});
