/** The reading commands and `publish`, on a server with the sample: on a pipe and on a terminal. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { serveWorldForTest } from '../clients/typescript/served-world.ts';
import { market, price } from '../publisher/world.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';
import { json, type Reply, refusal, stubServer } from './stub-server.ts';
import { type Run, tidemarkOnTerminal } from './tidemark.ts';

const server = serverForAll({ TIDEMARK_PROJECTIONS: 'log,history-files' });

const run = (...words: readonly string[]) => tidemark([...words, '--data', server.data]);
const linesOf = ({ code, output, errors }: Run): string[] => {
  expect([code, errors]).toEqual([0, '']);
  return output.trimEnd().split('\n');
};

describe('markets', () => {
  test('list prints a row for each market, and no heading on a pipe', async () => {
    const lines = linesOf(await run('markets', 'list'));
    expect(lines).toHaveLength(175);
    expect(lines.find((line) => line.startsWith('gold-usd\t'))).toBe(
      'gold-usd\tGold, US dollar\t4129.10\tUSD per troy ounce\tprice\t2026-09-29T00:00:00Z\tcurrency-api daily release',
    );
  });

  test('list --json is one array of what the API answers', async () => {
    const markets = JSON.parse((await run('markets', 'list', '--json')).output) as { slug: string }[];
    const gold = (await (await fetch(`${server.url}/api/v1/markets/gold-usd`)).json()) as unknown;
    expect(markets).toHaveLength(175);
    expect(markets.find(({ slug }) => slug === 'gold-usd')).toEqual(gold);
  });

  test('list on a terminal is a table with a heading', async () => {
    const { code, output } = await tidemarkOnTerminal(['markets', 'list', '--data', server.data]);
    expect(code).toBe(0);
    const [heading = '', first = ''] = output.split('\r\n');
    expect(heading).toMatch(/SLUG +NAME +VALUE/);
    expect(first).toMatch(/^aave-eur +Aave, Euro +131\.314 /);
  });

  test.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ])('with %j colours are used: %s', async (environment, colours) => {
    const { output } = await tidemarkOnTerminal(['markets', 'show', 'gold-usd', '--data', server.data], {
      environment: { TERM: 'xterm', ...environment },
    });
    expect(output.includes('\u001b[')).toBe(colours);
  });

  test('show prints the fields of one market', async () => {
    const lines = linesOf(await run('markets', 'show', 'gold-usd'));
    expect(lines).toContain(
      'price\t4129.10 USD per troy ounce, 2026-09-29T00:00:00Z, final, currency-api daily release',
    );
  });

  test('show of an unknown market is refused', async () => {
    expect(await run('markets', 'show', '../snapshot')).toMatchObject({ code: 3, output: '' });
  });

  test('history --versions and --json have every observation', async () => {
    const csv = linesOf(await run('markets', 'history', 'gold-usd', '--csv', '--versions'));
    expect(csv).toHaveLength(58);
    expect(csv[0]).toMatch(/^observedAt,metric,decimal,currency,/);
    const columns = csv[0]?.split(',') ?? [];
    expect(columns).toEqual(
      expect.arrayContaining(['recordedAt', 'supersededAt', 'retraction', 'releasedAt', 'minorDigits']),
    );
    expect(csv[1]?.split(',')[columns.indexOf('minorDigits')]).toBe('2');
    expect(csv[1]).toMatch(/^2026-09-29T00:00:00Z,price,4129\.10,USD,4129\.10,412910,/);
    const ndjson = linesOf(await run('markets', 'history', 'gold-usd', '--ndjson', '--versions')).map(
      (line) => JSON.parse(line) as unknown,
    );
    expect(ndjson).toHaveLength(57);
    expect(JSON.parse((await run('markets', 'history', 'gold-usd', '--json')).output)).toEqual(ndjson);
    expect(linesOf(await run('markets', 'history', 'gold-usd', '--versions'))).toHaveLength(57);
  });
});

describe('history --in', () => {
  const history = (...words: readonly string[]) => run('markets', 'history', 'gold-usd', ...words);
  const rateOf = (slug: string, of: string, currency: string, quantity = 1) =>
    ({ ...market(slug, currency), kind: 'fx', unit: { quantity, of } }) as IngestRecordInput;
  const lastOf = (lines: readonly string[]) => lines.at(-1)?.split(',').slice(-10);

  test('adds the price in another currency, the rate, its market, its moment and its source', async () => {
    const csv = linesOf(await history('--csv', '--in', 'EUR'));
    const rate = (await (await fetch(`${server.url}/api/v1/markets/eur-usd`)).json()) as {
      metrics: { price: PublicObservation };
    };
    // 4129.10 USD ÷ 1136.07 × 1,000
    const { sourceLabel, sourceUrl, ...euro } = rate.metrics.price;
    expect([csv.length, euro]).toEqual([58, expect.objectContaining({ decimal: '1136.07' })]);
    expect(csv[0]?.split(',').slice(-10).join()).toBe(
      'convertedDecimal,convertedCurrency,conversion,rate,rateMarket,rateObservedAt,rateSourceLabel,rateSourceUrl,' +
        'rateStatus,rateConfidence',
    );
    const day = '2026-09-29T00:00:00Z';
    const ofRate = ['0.8802274508', 'eur-usd', day, sourceLabel, sourceUrl, 'final', euro.confidence];
    expect(lastOf(csv)).toEqual(['3634.55', 'EUR', 'derived', ...ofRate]);
    expect(csv.every((line, at) => at === 0 || line.includes(',EUR,derived,'))).toBe(true);
    const [newest = ''] = linesOf(await history('--in', 'EUR'));
    const doubt = euro.confidence === 'high' ? '' : `rate: ${euro.confidence} confidence`;
    const shown = [
      day,
      'price',
      '4129.10',
      'USD per troy ounce',
      '3634.55',
      'EUR',
      doubt,
      '0.8802274508',
      'eur-usd',
      day,
    ];
    expect(newest.split('\t').slice(0, 10)).toEqual(shown);
    const [first] = JSON.parse((await history('--in', 'EUR', '--json')).output) as { converted: object }[];
    expect(first?.converted).toMatchObject({ derived: true, decimal: '3634.55', used: [{ isInverse: true }] });
  });

  test('stays empty where no market is a rate, and says why', async () => {
    const { code, output, errors } = await history('--csv', '--in', 'XPF');
    expect([code, errors]).toEqual([0, 'No market of this service has a rate from USD to XPF.\n']);
    expect(lastOf(output.trimEnd().split('\n'))).toEqual(['', 'XPF', 'no-rate', ...Array(7).fill('')]);
  });

  test('takes the rates that were visible at a moment, and in full those that stand', async () => {
    const served = await serveWorldForTest();
    const euro = rateOf('eur-usd', 'EUR', 'USD', 1000);
    await served.publish([euro, market('tea'), price('eur-usd', 0, 125_000), price('tea', 0, 1000)]);
    const before = new Date(served.world.clock.nowMs - 1).toISOString();
    await served.publish([price('eur-usd', 0, 100_000)], 'correct');
    const converted = async (...words: readonly string[]) =>
      linesOf(await tidemark(['markets', 'history', 'tea', '--in', 'EUR', '--url', served.url, ...words]))[0]?.split(
        '\t',
      )[4];
    expect([await converted('--as-of', before), await converted()]).toEqual(['8.00000', '10.0000']);
  });

  test('marks rows that do not stand, and converts none of them', async () => {
    const served = await serveWorldForTest();
    const days = [0, 1, 2].map((day) => price('tea', day, 1000));
    const doubtful = { ...price('eur-usd', 0, 125), status: 'estimated', confidence: 'low' } as IngestRecordInput;
    await served.publish([rateOf('eur-usd', 'EUR', 'USD'), doubtful, market('tea'), ...days]);
    await served.publish([price('tea', 0, 2000)], 'correct');
    for (const [day, kind] of [
      [1, 'mistake'],
      [2, 'withdrawn'],
    ] as const) {
      const observedAt = new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
      const which = { market: 'tea', metric: 'price', observedAt, sourceUrl: 'https://example.com/tea' };
      await served.publish([{ type: 'retraction', ...which, kind, reason: 'a test' }], 'correct');
    }
    const words = ['markets', 'history', 'tea', '--in', 'EUR', '--url', served.url];
    const shown = linesOf(await tidemark(words)).map((line) => line.split('\t'));
    expect(shown.map((cells) => [cells[0]?.slice(8, 10), ...cells.slice(4, 7)])).toEqual([
      ['03', 'value-unknown', 'EUR', 'withdrawn by the source'],
      ['03', 'not-standing', 'EUR', 'superseded'],
      ['02', 'not-standing', 'EUR', 'retracted: mistake'],
      ['02', 'not-standing', 'EUR', 'superseded'],
      ['01', '16.0000', 'EUR', 'rate: estimated, low confidence'],
      ['01', 'not-standing', 'EUR', 'superseded'],
    ]);
    expect(shown.at(-1)?.slice(-3)).toEqual(['final', 'high', 'a test']);
    const csv = linesOf(await tidemark([...words, '--csv', '--versions'])).slice(1);
    expect(csv.map((line) => line.split(',').at(-8))).toEqual(
      shown.map(([, , , , text = '']) => text.replace(/^\d.*/, 'derived')),
    );
    expect(csv.at(-2)?.split(',').slice(-2)).toEqual(['estimated', 'low']);
  });

  test('a market that began later is no way at an earlier moment', async () => {
    const served = await serveWorldForTest();
    const crossed = [rateOf('eur-usd', 'EUR', 'USD'), rateOf('eur-chf', 'EUR', 'CHF')];
    const rates = [price('eur-usd', 0, 125), price('eur-chf', 0, 100, 'CHF')];
    await served.publish([...crossed, ...rates, market('tea'), price('tea', 0, 1000)]);
    const before = new Date(served.world.clock.nowMs - 1).toISOString();
    await served.publish([rateOf('usd-chf', 'USD', 'CHF'), price('usd-chf', 0, 90, 'CHF')]);
    const words = ['markets', 'history', 'tea', '--in', 'CHF', '--url', served.url];
    const converted = async (...more: readonly string[]) =>
      linesOf(await tidemark([...words, ...more]))[0]
        ?.split('\t')
        .filter((_, at) => [4, 8].includes(at));
    expect(await converted()).toEqual(['9.00000', 'usd-chf']);
    expect(await converted('--as-of', before.replace('Z', '+00:00'))).toEqual(['8.00000', 'eur-usd eur-chf']);
  });

  test('takes currencies of ISO 4217 alone', async () => {
    expect(await history('--in', 'BTC')).toMatchObject({ code: 2, output: '' });
  });
});

describe('history --csv and --ndjson', () => {
  const path = (rest: string) => `/api/v1/markets/gold-usd/history${rest}`;
  const fileOf = async (rest: string) => (await fetch(server.url + path(rest))).text();

  /** Answers as the server does, except where the test says otherwise. */
  async function serverWith(otherwise: Readonly<Record<string, Reply>>) {
    return await stubServer(async (request, response) => {
      const other = otherwise[request.url];
      if (other !== undefined) return other(request, response);
      const answer = await fetch(server.url + request.url);
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  }
  const printed = async (url: string, form: string) => {
    const { code, output, errors } = await tidemark(['markets', 'history', 'gold-usd', form, '--url', url]);
    expect([code, errors]).toEqual([0, '']);
    return output;
  };
  const missing = refusal('not-found');
  const tooLong = (...years: readonly string[]) =>
    json({ code: 'history-too-long', instead: years.map((year) => path(`/${year}.csv`)) }, 410);

  test.each(['csv', 'ndjson'])('print the published %s file, byte for byte', async (format) => {
    const stub = await serverWith({});
    expect(await printed(stub.url, `--${format}`)).toBe(await fileOf(`.${format}`));
    expect(stub.seen.map((request) => request.url)).toEqual([path(`.${format}`)]);
  });

  test.each(['csv', 'ndjson'])('make the same bytes from pages where there is no %s file', async (format) => {
    const stub = await serverWith({ [path(`.${format}`)]: missing });
    expect(await printed(stub.url, `--${format}`)).toBe(await fileOf(`.${format}`));
  });

  test('print the files of the years if the whole is too long, and the pages of a year that is too long', async () => {
    const stub = await serverWith({ [path('.csv')]: tooLong('2024', '2025', '2026'), [path('/2026.csv')]: tooLong() });
    expect(await printed(stub.url, '--csv')).toBe(await fileOf('.csv'));
    expect(stub.seen.map((request) => request.url)).toContain(path('/2025.csv'));
  });

  test('print the columns of the files, also those that only a newer service has', async () => {
    const years = { '2025': 'observedAt,new\r\n1,2\r\n', '2026': 'observedAt,new\r\n3,4\r\n' };
    const files = Object.entries(years).map(([year, text]): [string, Reply] => [
      path(`/${year}.csv`),
      (_, response) => response.end(text),
    ]);
    const stub = await serverWith({ [path('.csv')]: tooLong('2025', '2026'), ...Object.fromEntries(files) });
    expect(await printed(stub.url, '--csv')).toBe('observedAt,new\r\n1,2\r\n3,4\r\n');
  });

  test('say that a market is unknown, and print nothing', async () => {
    const { code, output, errors } = await run('markets', 'history', 'nowhere', '--csv');
    expect([code, output, errors.includes('404 not-found')]).toEqual([3, '', true]);
  });
});

test('status tells the generation and the health', async () => {
  const lines = linesOf(await run('status'));
  expect(lines).toEqual(expect.arrayContaining(['generation\t1', 'markets\t175', 'health\tok', 'deferred\t0']));
  const { snapshot, health } = JSON.parse((await run('status', '--json')).output);
  expect([snapshot.generation, health.status]).toEqual([1, 'ok']);
});

test('publish waits for the generation', async () => {
  expect(linesOf(await run('publish', 'gold-usd', 'silver-usd'))).toContain('state\tpublished');
  const all = JSON.parse((await run('publish', '--all', '--json')).output) as unknown;
  expect(all).toMatchObject([{ markets: 'all', state: 'published' }]);
});

test('publish of an unknown market is refused, with the place', async () => {
  const { code, errors } = await run('publish', 'no-such-market');
  expect([code, errors]).toEqual([3, expect.stringContaining('no-such-market')]);
});

const ingest = (records: readonly unknown[]) =>
  tidemark(['ingest', '-', '--data', server.data], {
    input: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  });

test('the table of a history says which values were superseded and retracted, and how', async () => {
  const values = [0, 1, 2, 3].map((day) => price('remarks', day, 100 + day) as object);
  const retracted = (day: number, kind: string) => {
    const { market, metric, observedAt, sourceUrl } = values[day] as Readonly<Record<string, string>>;
    return { type: 'retraction', kind, market, metric, observedAt, sourceUrl, reason: 'A misprint.' };
  };
  const taken = await ingest([market('remarks'), ...values]);
  expect(taken.code, taken.errors).toBe(0);
  expect(taken.errors).toContain('Readers behind caches may get earlier values for up to 15 seconds.');
  expect((await ingest([retracted(1, 'mistake'), retracted(2, 'withdrawn')])).code).toBe(0);
  const lines = linesOf(await run('markets', 'history', 'remarks')).map((line) => line.split('\t'));
  const remarks = lines.map((cells) => [cells[2], cells[7] ?? '']);
  expect(remarks).toHaveLength(6);
  expect(remarks).toEqual(
    expect.arrayContaining([
      ['1.03', ''],
      ['unknown: the source took it back', 'withdrawn by the source'],
      ['1.02', 'superseded'],
      ['unknown: it was recorded by mistake', 'retracted: mistake'],
      ['1.01', 'superseded'],
      ['1.00', ''],
    ]),
  );
});

test('--as-of shows a market and its history as they were, by either clock', async () => {
  const released = { ...(price('past', 0, 100) as object), releasedAt: '2026-01-01T08:00:00Z' };
  const revised = { ...(price('past', 0, 125) as object), releasedAt: '2026-02-01T08:00:00Z' };
  expect((await ingest([market('past'), released])).code).toBe(0);
  const corrected = await tidemark(['ingest', '-', '--data', server.data, '--mode', 'correct'], {
    input: `${JSON.stringify(revised)}\n`,
  });
  expect(corrected.code, corrected.errors).toBe(0);
  const shown = JSON.parse(
    (await run('markets', 'show', 'past', '--json', '--as-of', '2026-01-15T00:00:00Z', '--by-release')).output,
  );
  expect(shown).toMatchObject({
    slug: 'past',
    clock: 'released',
    metrics: { price: { decimal: '1.00' } },
    bySource: {},
  });
  const rows = linesOf(await run('markets', 'history', 'past', '--as-of', new Date().toISOString()));
  expect(rows.map((line) => line.split('\t')[2])).toEqual(['1.25']);
  const early = await run('markets', 'history', 'past', '--as-of', '2026-01-15T00:00:00Z');
  expect([early.code, early.output]).toEqual([0, '']);
  const future = await run('markets', 'show', 'past', '--as-of', '2100-01-01T00:00:00Z');
  expect([future.code, future.output]).toEqual([2, '']);
  expect(early.errors).toMatch(/the earliest recordedAt is 20[\s\S]*--by-release/);
});
