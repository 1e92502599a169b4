/** `tidemark ingest` on a running server: every form of file, faults in a person's words, interruptions. */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { mappingOf } from '../run/files-mapping.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere as tidemark } from './in-process.ts';
import { json, stubServer } from './stub-server.ts';
import type { Run } from './tidemark.ts';

const served = serverForAll();

const ingest = (words: readonly string[], input?: string | Uint8Array) =>
  tidemark(['ingest', ...words, '--data', served.data], input === undefined ? {} : { input });

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(served.folder, name);
  await writeFile(path, content);
  return path;
}

/** A slug of its own for each test. */
const newSlug = () => `m-${randomBytes(4).toString('hex')}`;

const market = (slug: string) => ({
  ...{ type: 'market', slug, name: slug, kind: 'metal', nativeCurrency: 'USD' },
  unit: { quantity: 1, of: 'kilogram' },
});
const price = (slug: string, day: number, amountMinor: number | null, more: object = {}) => ({
  ...{ type: 'observation', market: slug, metric: 'price', amountMinor, currency: 'USD' },
  ...{ sourceLabel: 'A source', sourceUrl: `https://source.example/${day}`, confidence: 'high', status: 'final' },
  observedAt: new Date(Date.UTC(2025, 0, 1) + day * 3_600_000).toISOString().replace('.000Z', 'Z'),
  ...more,
});
const lines = (records: readonly unknown[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const days = (slug: string, count: number) =>
  Array.from({ length: count }, (_, day) => price(slug, day, 1000 + (day % 7)));

/** The lines of the summary by the beginning of their names; `refused`: rows and records. */
function summaryOf({ code, output }: Run) {
  const fields: Readonly<Record<string, string>> = Object.fromEntries(
    output
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [string, string])
      .map(([name, value]) => [name.split(/[:,]/)[0], value]),
  );
  const count = (name: string) => Number(fields[name] ?? 0);
  const stored = count('stored') + count('would be stored');
  const sum = stored + count('known already') + count('records refused') + count('not stored');
  expect(sum, 'the counts of records add up').toBe(count('records'));
  return { code, ...fields, refused: String(count('rows of the file refused') + count('records refused')) };
}

const fieldOf = (summary: object, name: string) => (summary as Readonly<Record<string, string>>)[name];

const historyCount = async (slug: string): Promise<number> => {
  const answer = await fetch(`${served.url}/api/v1/markets/${slug}`);
  return answer.status === 404 ? 0 : ((await answer.json()) as { history: { count: number } }).history.count;
};

describe('a file in the form', () => {
  test.each<[string, (text: string, records: readonly unknown[]) => string | Uint8Array]>([
    ['a.ndjson', (text) => text],
    ['a.jsonl', (text) => `\uFEFF${text.replaceAll('\n', '\r\n\r\n')}`],
    ['a.ndjson.gz', (text) => gzipSync(text)],
    ['named-otherwise.ndjson', (text) => gzipSync(text)],
    ['a.ndjson.zst', (text) => zstdCompressSync(text)],
    ['array.json', (_, records) => JSON.stringify(records, null, 2)],
    ['object.json', (_, records) => `\uFEFF${JSON.stringify({ more: [{ records: [] }], records }, null, 1)}`],
    ['object.json.gz', (_, records) => gzipSync(JSON.stringify({ records }))],
  ])('%s is taken in, and public when the command ends', async (name, write) => {
    const slug = newSlug();
    const records = [market(slug), ...days(slug, 3)];
    const run = await ingest([await file(name, write(lines(records), records))]);
    expect(summaryOf(run)).toMatchObject({
      code: 0,
      records: '4',
      stored: '4',
      refused: '0',
      generation: expect.stringMatching(/^\d+$/),
    });
    await expect.poll(() => historyCount(slug)).toBe(3);
  });

  test('standard input', async () => {
    const slug = newSlug();
    expect(summaryOf(await ingest(['-'], lines([market(slug), ...days(slug, 2)])))).toMatchObject({
      code: 0,
      file: 'stdin',
      stored: '3',
    });
    expect(
      summaryOf(await ingest(['-', '--format', 'json'], gzipSync(JSON.stringify([price(slug, 9, 1001)])))),
    ).toMatchObject({ code: 0, stored: '1' });
  });

  test('CSV with its mapping', async () => {
    const path = join(import.meta.dirname, '../../mapping/sample');
    const csv = (await readFile(join(path, 'currency-api.csv'), 'utf8')).split('\n').slice(0, 1_200).join('\n');
    const words = [await file('currency.csv', csv), '--mapping', join(path, 'mapping.json')];
    const dry = summaryOf(await ingest([...words, '--dry-run']));
    expect(dry).toMatchObject({ code: 0, refused: '0' });
    const run = summaryOf(await ingest(words));
    expect(run).toMatchObject({ code: 0, stored: fieldOf(dry, 'would be stored') });
    expect(summaryOf(await ingest(words))).toMatchObject({
      code: 0,
      stored: '0',
      'known already': fieldOf(run, 'records'),
    });
  });
});

test('a JSON document with its mapping', async () => {
  const slug = newSlug();
  const mapping = {
    json: { rows: '/prices', name: 'day', value: 'price' },
    match: [],
    market: { slug, name: slug, kind: 'metal', nativeCurrency: 'USD', unit: { quantity: '1', of: 'kilogram' } },
    observation: {
      value: { column: 'price', rounding: 'refuse' },
      ...{ currency: 'USD', date: { column: 'day', format: 'YYYY-MM-DD', precision: 'day' } },
      ...{ sourceLabel: 'A source', sourceUrl: 'https://source.example/', confidence: 'high', status: 'final' },
    },
  };
  const rounding = structuredClone(mapping);
  rounding.observation.value.rounding = 'nearest';
  rounding.market.slug = newSlug();
  const rounds = ['--mapping', await file('rounds.mapping.jsonc', JSON.stringify(rounding))];
  const path = await file('prices.json', '{"prices":{"2025-01-02":1.2e+01,\n"2025-01-03":12.50,\n"2025-01-04":1.005}}');
  const words = [path, '--mapping', await file('prices.mapping.jsonc', JSON.stringify(mapping)), '--partial'];
  const run = await ingest(words);
  expect(summaryOf(run)).toMatchObject({ code: 4, stored: '3', refused: '1' });
  expect(run.errors).toContain('prices.json:3 price: amount.not-integral');
  const line = await file('line.json', '{"prices":{"2025-01-02":1.005,"2025-01-03":12.50,"2025-01-04":1.006}}');
  expect(summaryOf(await ingest([line, ...words.slice(1), '--dry-run']))).toMatchObject({ code: 4, refused: '2' });
  for (const more of [['--dry-run'], []]) {
    expect(summaryOf(await ingest([path, ...rounds, ...more]))).toMatchObject({
      'values that the mapping rounded': '1',
    });
  }
  expect(JSON.parse((await ingest([path, ...rounds, '--json'])).output)).toMatchObject([{ rounded: 1 }]);
  const answer = await fetch(`${served.url}/api/v1/markets/${slug}`);
  expect(await answer.json()).toMatchObject({ metrics: { price: { amountMinor: 1250, sourceValue: '12.50' } } });
  const history = await fetch(`${served.url}/api/v1/markets/${slug}/history`);
  expect((await history.json()) as object).toMatchObject({
    data: [{ sourceValue: '12.50' }, { decimal: '12.00', sourceValue: '1.2e+01' }],
  });
  expect(await tidemark(['verify', '--log', served.url])).toMatchObject({ code: 0 });
});

describe('a dry run', () => {
  test('of several parts judges them as one file, and leaves no trace', async () => {
    const slug = newSlug();
    const records = [market(slug), ...days(slug, 2_500)];
    // Each of them is right in a part of its own.
    records.push(price(slug, 3, 1_999), price(slug, 2_600, 900_000));
    const report = join(served.folder, `${slug}.ndjson`);
    const path = await file('long.ndjson', `nonsense\n${lines(records)}`);
    const run = await ingest([path, '--dry-run', '--report', report]);
    expect(summaryOf(run)).toMatchObject({ code: 4, records: '2501', 'would be stored': '2500', refused: '4' });
    expect(run.output).not.toContain('generation');
    expect(run.errors).toContain('long.ndjson:1: record.invalid');
    // Two rows that contradict each other are both refused.
    for (const line of ['6', '2503'])
      expect(run.errors).toMatch(new RegExp(`line ${line} is about .*, and says something`));
    expect(run.errors).toMatch(/long\.ndjson:2504 \S+ outlier/);
    expect((await readFile(report, 'utf8')).trimEnd().split('\n')).toHaveLength(5);
    expect((await fetch(`${served.url}/api/v1/markets/${slug}`)).status).toBe(404);
  });

  test('of more records than the service judges as one file goes part by part, and says so', async () => {
    const done = {
      id: 'bat_1',
      records: 1,
      counts: { accepted: 1, unchanged: 0, refused: 0 },
      errors: [],
      finishedAt: '',
    };
    const { url: stub, seen } = await stubServer(json({ ...done, state: 'examined' }));
    const input = '{"type":"observation","market":"a"}\n'.repeat(50_001);
    const run = await tidemark(['ingest', '-', '--dry-run', '--url', stub], {
      environment: { TIDEMARK_KEY: 'k' },
      input,
    });
    expect(run).toMatchObject({ code: 0, errors: expect.stringContaining('in batches of 1000 records') });
    const sent = seen.filter(({ method }) => method === 'POST');
    expect(sent.map(({ body }) => body).join('')).toBe(input);
    expect(sent.map(({ url: path }) => path.includes('/batches?') && path.includes('dryRun=true'))).toEqual(
      new Array(51).fill(true),
    );
  });
});

test('many new markets: two requests a part, and no wait for a generation before the last part', async () => {
  const [markets, parts, generation] = [4_000, 8, 7];
  const input = Array.from({ length: markets }, (_, index) => [
    { type: 'market', slug: `m-${index}` },
    { type: 'observation', market: `m-${index}` },
  ]).flat();
  // Every report is finished at its first reading. Nothing is published before the reports of all parts were read.
  const read = new Set<string>();
  let sent = 0;
  const { url: stub, seen } = await stubServer((request, response) => {
    const isRead = request.method === 'GET';
    const id = isRead ? (request.url.split('/').at(-1) as string) : `b-${++sent}`;
    const report = { id, state: 'applied', records: 1_000, errors: [], finishedAt: 'now' };
    const counts = { accepted: 1_000, unchanged: 0, refused: 0 };
    json({ ...report, counts, generation: read.has(`b-${parts}`) ? generation : null })(request, response);
    if (isRead) read.add(id);
  });
  const environment = { TIDEMARK_KEY: 'k' };
  const run = await tidemark(['ingest', '-', '--json', '--url', stub], { environment, input: lines(input) });
  expect(JSON.parse(run.output)).toMatchObject([{ accepted: 2 * markets, refused: 0, generation }]);
  expect(seen.map(({ body }) => body).join('')).toBe(lines(input));
  const eachPart = Array.from({ length: parts }, (_, part) => ['POST batches', `GET b-${part + 1}`]).flat();
  const asked = seen.map(({ method, url }) => `${method} ${url.replace(/\?.*/, '').split('/').at(-1)}`);
  expect(asked).toEqual([...eachPart, `GET b-${parts}`]);
});

test.each([
  ['records', ['--format', 'ndjson'], ''],
  ['records', ['--format', 'json'], '[]'],
  ['rows', ['--mapping', 'mapping/sample/mapping.json'], 'package_version,date,base,quote,value\n'],
])('a file without %s %j is done, with a warning', async (what, words, input) => {
  for (const dryRun of [['--dry-run'], []]) {
    const run = await ingest(['-', ...words, ...dryRun], input);
    expect(summaryOf(run)).toMatchObject({ code: 0, records: '0' });
    expect(run.errors).toMatch(new RegExp(`^stdin has no ${what}[^\n]*\n$`));
  }
});

describe('refused rows', () => {
  const faulty = (slug: string) => [
    market(slug),
    price(slug, 0, 1000),
    price(slug, 1, 1.5),
    price(slug, 2, 1002),
    price(slug, 3, 2.5),
    { type: 'observation' },
  ];

  test('are named by file, line and field: the first of each kind in full', async () => {
    const path = await file('faults.ndjson', lines(faulty(newSlug())));
    const { code, output, errors } = await ingest([path, '--dry-run']);
    expect([code, output]).toEqual([4, expect.stringContaining('records refused\t3\n')]);
    expect(errors).toMatch(
      /faults\.ndjson:3 amountMinor: amount\.not-integral: [^\n]+\n {2}and 1 more of this kind, on line 5\n/,
    );
    expect(errors).toContain('faults.ndjson:6');
  });

  test('refuse their part as a whole, and nothing after it is sent', async () => {
    const slug = newSlug();
    const records = [market(slug), ...days(slug, 2_100)];
    records[1_500] = price(slug, 1_499, 1.5) as (typeof records)[number];
    const { code, output, errors } = await ingest([await file('stops.ndjson', lines(records))]);
    expect([code, output]).toEqual([4, expect.stringContaining('stored\t1000\n')]);
    expect(errors).toContain('nothing from line 1001 on');
    await expect.poll(() => historyCount(slug)).toBe(999);
    // The mended file is sent again as it is.
    records[1_500] = price(slug, 1_499, 1003) as (typeof records)[number];
    const again = summaryOf(await ingest([await file('stops.ndjson', lines(records))]));
    expect(again).toMatchObject({ code: 0, 'known already': '1000', stored: '1101' });
  });

  test('are set aside with --partial, also lines that are not JSON', async () => {
    const slug = newSlug();
    const text = `${lines(faulty(slug))}{"type":\n{"type":"market","type":"market"}\n\n[]\n${lines([price(slug, 8, 1001)])}`;
    const report = join(served.folder, `${slug}.ndjson`);
    const run = await ingest([await file('partial.ndjson', text), '--partial', '--report', report]);
    expect(summaryOf(run)).toMatchObject({ code: 4, stored: '4', refused: '6' });
    const reported = (await readFile(report, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(new Set(reported.slice(0, -1).map(({ line }) => line))).toEqual(new Set([3, 5, 6, 7, 8, 10]));
    expect(reported.at(-1)).toMatchObject({ summary: { accepted: 4, refused: 6 } });
    await expect.poll(() => historyCount(slug)).toBe(3);
    // A report is never overwritten.
    expect(await ingest(['-', '--report', report], '')).toMatchObject({ code: 2 });
  });

  test('of CSV are named by column, those of the mapping and those of the service', async () => {
    const mapping = JSON.parse(
      await readFile(join(import.meta.dirname, '../../mapping/sample/mapping.json'), 'utf8'),
    ) as { observation: { value: { column: string }; date: { column: string } } };
    const csv = await readFile(join(import.meta.dirname, '../../mapping/sample/currency-api.csv'), 'utf8');
    const [header = '', first = ''] = csv.split('\n');
    const { value, date } = mapping.observation;
    const cells = Object.fromEntries(header.split(',').map((name, index) => [name, first.split(',')[index]]));
    const row = (changes: object) => Object.values({ ...cells, ...changes }).join(',');
    const text = [
      header,
      first,
      row({ [value.column]: '1,5x' }),
      row({ [value.column]: 'abc' }),
      row({ [date.column]: '2099-01-01' }),
    ].join('\n');
    const words = [
      await file('faults.csv', text),
      '--mapping',
      join(import.meta.dirname, '../../mapping/sample/mapping.json'),
      '--dry-run',
    ];
    const { code, errors } = await ingest(words);
    expect(code).toBe(4);
    expect(errors).toContain(`faults.csv:4 ${value.column}: record.invalid`);
    expect(errors).toContain(`faults.csv:5 ${date.column}: date.future`);
  });
});

test('a dry run refuses a row about the observation of an earlier one, parts before it', async () => {
  const slug = newSlug();
  const records = [market(slug), ...days(slug, 1_100), price(slug, 0, 999), price(slug, 1, 1001)];
  const run = await ingest(['-', '--dry-run'], lines(records));
  expect(summaryOf(run)).toMatchObject({ code: 4, refused: '3', 'would be stored': '1100' });
  expect(run.errors).toMatch(/duplicate\.in-batch: line 1102 .*something else/);
  expect(run.errors).toMatch(/:1103: duplicate\.in-batch: line 3 .*the same/);
});

describe('faults of a file with a mapping have the words of the mapping:', () => {
  const berlin = { column: 'date', format: 'YYYY-MM-DDTHH:mm', precision: 'instant', timeZone: 'Europe/Berlin' };

  test.each<[string, string, object, RegExp]>([
    ['an outlier', '2026-01-01,1\n2026-01-02,1000\n', {}, /--confirm-outliers, or give .*"outliers" in the mapping/],
    ['a date ahead', '2099-01-01,1\n', {}, /"announced": "when-ahead"/],
    ['a repeated row', '2026-01-01,1\n2026-01-01,1\n', {}, /the same: .*"repeats": "leave-out"/],
    [
      'an hour of the end of summer time',
      '2026-10-25T02:30,1\n',
      { date: berlin },
      /both hours, in the order of time, write "overlap": "in-order"/,
    ],
  ])('%s', async (_, rows, more, words) => {
    const { observation, ...mapping } = mappingOf(newSlug());
    const path = await file('words.csv', `date,price\n${rows}`);
    const text = JSON.stringify({ ...mapping, observation: { ...observation, ...more } });
    const run = await ingest([path, '--mapping', await file('words.json', text), '--dry-run']);
    expect(run).toMatchObject({ code: 4, errors: expect.stringMatching(words) });
    expect(run.errors).not.toMatch(/outlierConfirmed|set announced/);
  });

  test('a number that a market of exact quantity cannot hold', async () => {
    const slug = newSlug();
    const { market: own, ...mapping } = mappingOf(slug);
    const exact = { ...mapping, market: { ...own, unit: { quantity: 'exact', of: 'kg' } } };
    const words = ['--mapping', await file('exact.json', JSON.stringify(exact))];
    await ingest([await file('exact.csv', 'date,price\n2026-01-01,1.25\n'), ...words]);
    const { errors } = await ingest([await file('exact.csv', 'date,price\n2026-01-02,1.255\n'), ...words]);
    expect(errors).toMatch(/amount\.not-integral: .*"rounding": "nearest" in the mapping/);
  });

  test('a public reason that belongs into the records', async () => {
    const { code, errors } = await ingest(['-', '--mode', 'correct', '--public-reason', 'A slip']);
    expect([code, errors]).toEqual([2, expect.stringContaining('"publicReason" in the observation of the mapping')]);
  });
});

describe('of rows that contradict each other, none is stored with --partial', () => {
  test.each([
    ['in one batch', 20],
    ['parts apart', 1_500],
  ])(
    '%s',
    async (_, count) => {
      const slug = newSlug();
      const records = [market(slug), ...days(slug, count), price(slug, 0, 999), price(slug, 1, 1001)];
      const run = await ingest(['-', '--partial'], lines(records));
      // The second pair says the same.
      expect(summaryOf(run)).toMatchObject({ code: 4, refused: '3', stored: String(count) });
      for (const line of [2, count + 2])
        expect(run.errors).toMatch(new RegExp(`line ${line} is about the same observation.*else`));
      await expect.poll(() => historyCount(slug), { timeout: 30_000 }).toBe(count - 1);
    },
    120_000,
  );
});

test('--mode correct records a changed value as a correction', async () => {
  const slug = newSlug();
  await ingest(['-'], lines([market(slug), price(slug, 0, 1000)]));
  const changed = lines([price(slug, 0, 1001)]);
  const conflict = await ingest(['-'], changed);
  expect(conflict).toMatchObject({ code: 4, errors: expect.stringContaining('conflict.existing') });
  expect(conflict.errors).toMatch(/the mode `correct` .*tidemark ingest --mode correct/);
  const dryRun = await ingest(['-', '--mode', 'correct', '--dry-run'], changed);
  const line = `${slug} price 2025-01-01T00:00:00Z: 10.00 USD per kilogram → 10.01 USD per kilogram\n`;
  expect([summaryOf(dryRun), dryRun.errors]).toEqual([expect.objectContaining({ 'of them corrections': '1' }), line]);
  expect(await ingest(['-', '--mode', 'correct'], changed)).toMatchObject({ code: 0 });
  await expect.poll(() => historyCount(slug)).toBe(2);
});

test('a correction with another sourceUrl stands beside the value: a warning names both URLs and the remedies', async () => {
  const slug = newSlug();
  await ingest(['-'], lines([market(slug), ...days(slug, 3)]));
  const moved = { amountMinor: 1001, sourceUrl: 'https://source.example/new' };
  // Only the newest value of a source is in the market's record. Another label, and another moment, are no corrections.
  const others = [
    price(slug, 2, 1001, { sourceLabel: 'B', sourceUrl: 'https://b.example/' }),
    price(slug, 3, 1001, moved),
  ];
  const changed = lines([price(slug, 2, 1001, moved), ...others]);
  const words = ['-', '--mode', 'correct'];
  const at = '2025-01-01T02:00:00Z';
  const example = `${slug} price ${at} of A source is known from https://source.example/2, and here from ${moved.sourceUrl}.`;
  const dryRun = await ingest([...words, '--dry-run'], changed);
  expect(dryRun).toMatchObject({ code: 0, errors: expect.stringContaining(example) });
  expect(dryRun.errors).toContain('1 row would stand beside');
  const run = await ingest([...words, '--json'], changed);
  const [{ sentAs, besides, firstBeside }] = JSON.parse(run.output);
  expect([besides, firstBeside.knownUrl]).toEqual([1, 'https://source.example/2']);
  expect(run.errors).toContain(`1 row stands beside`);
  expect(run.errors).toContain(`tidemark undo ${sentAs[0]} --apply`);
  expect(run.errors).toContain('tidemark undo --source "A source" --since');
  // Now both are known.
  expect((await ingest(words, changed)).errors).not.toContain('beside');
});

test('prices of a list that round to zero are unknown: a line says how many, and names the first', async () => {
  const slug = newSlug();
  const listed = (day: number, value: string) => {
    const { amountMinor, ...record } = price(slug, day, null, { value, ifChanged: true });
    return record;
  };
  const rows = lines([market(slug), listed(0, '1.5'), listed(1, '0.001'), listed(2, '0.002')]);
  const words = `2 prices round to zero, and are unknown (withheld), because the market's quantity is too small. To keep such prices, use a market with a larger quantity. The first: ${slug} price 2025-01-01T01:00:00Z, 0.001.`;
  expect((await ingest(['-', '--dry-run'], rows)).errors).toContain(words);
  const run = await ingest(['-', '--json'], rows);
  expect(JSON.parse(run.output)).toMatchObject([{ withheld: 2, firstWithheld: { sourceValue: '0.001' } }]);
  expect(run.errors).toContain(words);
  expect((await ingest(['-'], rows)).errors).not.toContain('withheld');
});

test('a dry run shows the first ten corrections of a long file, with the values before and after', async () => {
  const slug = newSlug();
  await ingest(['-'], lines([market(slug), ...days(slug, 1_200)]));
  const changed = [...days(slug, 1_195).map((row, day) => (day < 50 ? row : { ...row, amountMinor: 1100 }))];
  const other = [price(slug, 1_195, 1000 + (1_195 % 7), { status: 'provisional' })];
  const words = ['-', '--mode', 'correct', '--partial'];
  const dryRun = await ingest([...words, '--dry-run'], lines([...other, ...changed]));
  expect(summaryOf(dryRun)).toMatchObject({ code: 0, 'of them corrections': '1146', 'known already': '50' });
  const [first = '', second = '', ...more] = dryRun.errors.split('\n').filter((line) => /→|more/.test(line));
  expect(first).toMatch(/: (10\.0\d USD per kilogram) → the same value, with other details$/);
  expect(second).toMatch(/ 2025-01-03T02:00:00Z: 10\.01 USD per kilogram → 11\.00 USD per kilogram$/);
  expect([more.length, more.at(-1)]).toEqual([9, '  and 1136 more corrections']);
});

test('an outlier is named as its price of one unit, and as it was sent', async () => {
  const slug = newSlug();
  const ofTen = { ...market(slug), unit: { quantity: 10, of: 'litre' } };
  const records = [1699, 17_990].map((amount, day) => price(slug, day, amount, { quotedQuantity: 10 }));
  const { errors } = await ingest(['-', '--dry-run'], lines([ofTen, ...records]));
  expect(errors).toContain(
    ': outlier: 17.99 USD per litre (amountMinor 17990 per 10 litres) is too far from 1.699 USD per litre of 2025-01-01T00:00:00Z: ',
  );
});

describe('a value that is refused as an outlier is stored with --confirm-outliers', () => {
  test('of NDJSON: only on observations, and the numbers stay as they are written', async () => {
    const slug = newSlug();
    await ingest(['-'], lines([market(slug), price(slug, 0, 1000)]));
    const leap = lines([market(slug), price(slug, 1, 1_000_000)]);
    expect(await ingest(['-'], leap)).toMatchObject({ code: 4, errors: expect.stringContaining('outlier') });
    expect(summaryOf(await ingest(['-', '--confirm-outliers'], leap))).toMatchObject({ code: 0, stored: '1' });
    await expect.poll(() => historyCount(slug)).toBe(2);
    const more = [
      price(slug, 2, 5, { outlierConfirmed: false }),
      { ...price(slug, 3, null), amountMinor: undefined, value: 1.5 },
    ];
    const { errors } = await ingest(['-', '--confirm-outliers', '--dry-run'], lines(more));
    expect(errors).toMatch(/stdin:1 \S+: outlier/);
    expect(errors).toContain('stdin:2 value');
  });

  test('of CSV', async () => {
    const sample = join(import.meta.dirname, '../../mapping/sample');
    const [header = ''] = (await readFile(join(sample, 'currency-api.csv'), 'utf8')).split('\n');
    const words = ['-', '--mapping', join(sample, 'mapping.json'), '--mode', 'correct'];
    await ingest(words, `${header}\n2024.3.2,2024-03-02,eur,usd,1.08\n`);
    const leap = `${header}\n2024.3.3,2024-03-03,eur,usd,1080\n`;
    const refused = await ingest([...words, '--dry-run'], leap);
    expect(refused).toMatchObject({ code: 4, errors: expect.stringContaining('outlier') });
    expect(await ingest([...words, '--dry-run', '--confirm-outliers'], leap)).toMatchObject({ code: 0 });
  });
});

test('a wrong unit in a whole file corrects nothing, until the operator confirms it', async () => {
  const slug = newSlug();
  const quoted = (quotedQuantity: number) => {
    const rows = days(slug, 5).map(({ amountMinor, ...row }) => ({
      ...row,
      value: `${amountMinor}.00`,
      quotedQuantity,
    }));
    return lines([market(slug), ...rows]);
  };
  const words = ['-', '--mode', 'correct'];
  expect(summaryOf(await ingest(words, quoted(100)))).toMatchObject({ code: 0, refused: '0' });
  const wrong = await ingest([...words, '--partial'], quoted(1));
  expect(summaryOf(wrong)).toMatchObject({ code: 4, stored: '0', refused: '5' });
  expect(wrong.errors).toMatch(/ is too far from 10\.00 USD per kilogram of \S+, which it would replace: /);
  const confirmed = summaryOf(await ingest([...words, '--confirm-outliers'], quoted(1)));
  expect(confirmed).toMatchObject({ code: 0, 'of them corrections': '5' });
});

test('a long file with --partial goes as one upload: faults have their lines, and of rows that contradict each other none is stored', async () => {
  const slug = newSlug();
  // More parts than are held back before the first one is written.
  const records: object[] = [market(slug), ...days(slug, 11_500), price(slug, 0, 999)];
  records[11_000] = price(slug, 10_999, 1.5);
  const run = await ingest([await file('large.ndjson', `nonsense\n${lines(records)}`), '--partial']);
  expect(summaryOf(run)).toMatchObject({ code: 4, stored: '11499', refused: '4' });
  expect(run.errors).toContain('large.ndjson:1: record.invalid');
  expect(run.errors).toContain('large.ndjson:11002 amountMinor');
  for (const line of [3, 11_503])
    expect(run.errors).toMatch(new RegExp(`line ${line} is about the same observation.*else`));
  await expect.poll(() => historyCount(slug), { timeout: 30_000 }).toBe(11_498);
}, 120_000);

describe('an interrupted run', () => {
  test('continues with --resume: parts that have arrived are not applied twice, and cost no quota', async () => {
    const slug = newSlug();
    const path = await file('resumed.ndjson', lines([market(slug), ...days(slug, 1_500)]));
    const first = await ingest([path]);
    const [, run = ''] = /--resume ([0-9a-f]{12})/.exec(first.errors) ?? [];
    const used = async () => (await quota()).used;
    const before = await used();
    expect(summaryOf(await ingest([path, '--resume', run]))).toMatchObject({
      code: 0,
      records: '1501',
      stored: '1501',
    });
    expect(await used()).toBe(before);
    await ingest([path]);
    expect(await used()).toBe(before + 1_501);
    await expect.poll(() => historyCount(slug)).toBe(1_500);
  });

  async function quota() {
    const key = (await readFile(join(served.data, 'operator-key'), 'utf8')).trim();
    const answer = await fetch(`${served.url}/api/v1/entitlements`, { headers: { authorization: `Bearer ${key}` } });
    const { entitlements } = (await answer.json()) as { entitlements: { feature: string; used: number }[] };
    return entitlements.find(({ feature }) => feature === 'ingest-rows-per-day') as { used: number };
  }
});

describe('refused before any request are', () => {
  test.each<[readonly string[], string | Uint8Array, string]>([
    [['no-such-file.ndjson'], '', 'no file'],
    [['.'], '', 'folder'],
    [['prices.csv'], '', 'There is no file'],
    [['mapping/sample/currency-api.csv'], '', '--mapping'],
    [['prices.csv', '--mapping', 'package.json'], '', 'not valid'],
    [['prices.csv', '--mapping', 'no-such.jsonc'], '', 'cannot be read'],
    [['-', '-'], '', 'only once'],
    [['-', '--resume', 'x'], '', 'twelve'],
    [['-', '--mode', 'replace'], '', 'append'],
    [['-'], Buffer.from('504b030414000000', 'hex'), 'ZIP'],
    [['-'], gzipSync('{}\n'.repeat(10_000)).subarray(0, 12), 'damaged'],
  ])('%j', async (words, input, part) => {
    const { code, output, errors } = await ingest(words, input);
    expect([code, output]).toEqual([2, '']);
    expect(errors).toContain(part);
    expect(errors, 'nothing can be resumed').not.toMatch(/^Run /m);
  });

  test.each([['{"records":[{"type":1}'], ['{"records":{}}'], ['[1]'], ['[[]]'], ['"x"'], ['[{"a":1}]]'], ['']])(
    'JSON %j',
    async (text) => {
      expect(await ingest(['-', '--format', 'json', '--dry-run'], text)).toMatchObject({
        code: 4,
        errors: expect.stringMatching(/stdin:1: record\.invalid/),
      });
    },
  );
});
