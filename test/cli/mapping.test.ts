/** `tidemark mapping`: from an unknown file to a mapping that is checked. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

const CSV = 'Date,Price\n2020-04-17,18.31\n2020-04-20,-36.98\n2020-04-21,x\n';
const SAMPLE = join(import.meta.dirname, '../../mapping/sample');

test('init prints a mapping with what is left to decide; check names it until it is decided', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'oil.csv.gz'), gzipSync(CSV));
  const begun = await tidemark(['mapping', 'init', 'oil.csv.gz'], { cwd: folder });
  expect(begun).toMatchObject({ code: 0, errors: expect.stringContaining('/market') });
  expect(begun.output).toContain('//');
  // The folder and the compression are no part of a public address.
  const elsewhere = await tidemark(['mapping', 'init', join(folder, 'oil.csv.gz')]);
  expect(elsewhere.output).toBe(begun.output);
  expect(begun.output).toContain('"slug": "oil"');
  await writeFile(join(folder, 'oil.mapping.jsonc'), begun.output);
  const { code, output, errors } = await tidemark(['mapping', 'check', 'oil.mapping.jsonc', 'oil.csv.gz'], {
    cwd: folder,
  });
  expect([code, output]).toEqual([2, '']);
  expect(errors).toMatch(/oil\.mapping\.jsonc:\d+ \/\S+: .*FILL IN/);
});

test('a column of links becomes the source URL of each row, and names no market', async () => {
  const folder = await temporaryFolder();
  const links = ['https://shop.example/a?page=1', 'https://shop.example/b'];
  const rows = Array.from({ length: 12 }, (_, row) => {
    const bean = ['arabica', 'robusta'][row % 2];
    return `2026-01-0${1 + Math.floor(row / 2)},${bean},1.2${row % 10},${links[row % 2]}\n`;
  });
  await writeFile(join(folder, 'links.csv'), `Date,Bean,Price,Link\n${rows.join('')}`);
  const { output } = await tidemark(['mapping', 'init', 'links.csv'], { cwd: folder });
  expect(output).toContain('"sourceUrl": "{Link}"');
  expect(output).toContain('"match": ["Bean"]');
  const mapping = output.replaceAll(/"FILL IN[^"]*"/g, (text) =>
    /currency|code/.test(text) ? '"USD"' : /home page/.test(text) ? '"https://shop.example"' : '"high"',
  );
  await writeFile(join(folder, 'links.mapping.jsonc'), mapping);
  const run = await tidemark(
    ['run', 'links.csv', '--mapping', 'links.mapping.jsonc', '--data', join(folder, 'data'), '--unsigned'],
    { cwd: folder },
  );
  // A busy machine takes seconds.
  expect(run.errors.replaceAll(/^Publishing … .*\n/gm, '')).toBe('');
  expect(run.output).toContain('links.csv: 2 markets new, 12 values new; sent as bat_');
  const history = join(folder, 'data/public/api/v1/markets/links-arabica/history.json');
  expect(JSON.parse(await readFile(history, 'utf8')).data[0].sourceUrl).toBe(links[0]);
});

test.each([
  ['gpt-4.1', true],
  ['gpt 4 Turbo', false],
])(
  'init suggests digests if a name such as %j has a character that another name may lose, too: %s',
  async (name, isSuggested) => {
    const folder = await temporaryFolder();
    const rows = ['2026-01-01', '2026-01-02'].flatMap((day) => [`${day},${name},2.05\n`, `${day},other,3.05\n`]);
    await writeFile(join(folder, 'm.csv'), `date,model,price\n${rows.join('')}`);
    const { output } = await tidemark(['mapping', 'init', 'm.csv'], { cwd: folder });
    expect(output).toContain('"match": ["model"]');
    expect(output.includes('"slugDigest": "unless-exact"')).toBe(isSuggested);
  },
);

test('init asks whether rates are amounts of the currencies or their prices, and keeps the quantity of each row', async () => {
  const folder = await temporaryFolder();
  const rows = ['2026-11', '2026-12'].map((month) => `${month},JPY,100,0.5101\n${month},USD,1,0.7902\n`);
  await writeFile(join(folder, 'u.csv'), `month,currency,units,rate\n${rows.join('')}`);
  const { output, errors } = await tidemark(['mapping', 'init', 'u.csv'], { cwd: folder });
  for (const pointer of ['market/unit/of', 'observation/currency']) {
    expect(errors).toContain(`/${pointer}: FILL IN: `);
  }
  // The rates are prices in pounds.
  const answers: readonly [RegExp, string][] = [
    [/"currency": "FILL IN[^"]*"/g, '"currency": "GBP"'],
    [/"of": "FILL IN[^"]*"/, '"of": "{currency}"'],
    [/"(url|sourceUrl)": "FILL IN[^"]*"/g, '"$1": "https://rates.example/"'],
    [/"FILL IN[^"]*"/g, '"high"'],
  ];
  const mapping = answers.reduce(
    (text, [question, answer]) => text.replaceAll(new RegExp(question, 'g'), answer),
    output,
  );
  await writeFile(join(folder, 'u.mapping.jsonc'), mapping);
  const check = await tidemark(['mapping', 'check', 'u.mapping.jsonc', 'u.csv'], { cwd: folder });
  expect(check).toMatchObject({ code: 0, errors: '' });
  // 0.5101 pounds for 100 yen are 51.01 pounds for the market's ten thousand.
  expect(check.output).toMatch(
    /"market":"u-jpy".*"amountMinor":5101,"currency":"GBP","sourceValue":"0.5101","rounded":false/,
  );
});

test('check tells what a mapping makes of a file', async () => {
  const folder = await temporaryFolder();
  const csv = (await readFile(join(SAMPLE, 'currency-api.csv'), 'utf8')).split('\n').slice(0, 4).join('\n');
  await writeFile(join(folder, 'a.csv'), csv);
  const words = ['mapping', 'check', join(SAMPLE, 'mapping.json')];
  const fine = await tidemark([...words, 'a.csv'], { cwd: folder });
  expect(fine).toMatchObject({ code: 0, output: expect.stringMatching(/observations\t3\n/), errors: '' });
  expect(fine.output).toContain('columns not used\tnone\n');
  const swapped = await tidemark(['mapping', 'check', 'a.csv', join(SAMPLE, 'mapping.json')], { cwd: folder });
  expect(swapped).toEqual(fine);
  expect(fine.output).toMatch(/\nfirst\t\S+ \S+ [A-Z]{3} per .* \d{4}\n/);
  expect(fine.output).toContain('its record\t{"type":"observation","market":"');
  const faulty = await tidemark([...words, '-', '--json'], { input: `${csv}\nx,y\n` });
  expect(faulty).toMatchObject({ code: 4 });
  expect(JSON.parse(faulty.output)).toMatchObject({ rows: 3, refused: { count: 1 } });
  const first = csv.split('\n')[1] ?? '';
  const summed = await tidemark([...words, '-'], { input: `${csv}\nx,y\n${first.replace(/[^,]*$/, 'x')}\n` });
  const fields = summed.output.split('\n').map((line) => line.split('\t'));
  expect(fields.slice(0, 6).map(([, value]) => value)).toEqual(['4', '1', '4', '0', '1', '3']);
  expect(fields.at(-3)).toEqual(['records: definitions and observations', expect.any(String)]);
});

test('check takes a recipe for its mapping, and names the faults of both', async () => {
  const folder = await temporaryFolder();
  const recipe = join(import.meta.dirname, '../../mapping/recipes/currency-api-eur.json');
  const rates = '{"date":"2026-09-29","eur":{"usd":1.1651,"doge":4}}';
  const fine = await tidemark(['mapping', 'check', recipe, '-'], { input: rates });
  expect(fine).toMatchObject({ code: 0, errors: '' });
  expect(fine.output).toMatch(
    /values left out\t1\nvalues refused\t0\nobservations\t1\n[\s\S]*market definitions\t1, eur-usd\nrecords: [^\n]*\t2\n/,
  );
  const text = await readFile(recipe, 'utf8');
  const changed = text.replace('cdn.jsdelivr.net"', 'localhost"').replace('"match": ["quote"]', '"match": "quote"');
  await writeFile(join(folder, 'a.json'), changed);
  const faulty = await tidemark(['mapping', 'check', 'a.json', '-'], { cwd: folder, input: rates });
  expect(faulty.code).toBe(2);
  expect(faulty.errors).toMatch(/a\.json:5 \/hosts\/0: .*\n.*a\.json:\d+ \/mapping\/match: /);
});

test('a file that is no JSON, or nested too deeply, is one fault with its line; brackets in texts and comments are none', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'deep.json'), `[\n${'['.repeat(200_000)}`);
  const fault = /^ *deep\.json:2 \/: is nested too deeply: at most 32 levels\n$/m;
  for (const words of [
    ['mapping', 'check', 'deep.json', '-'],
    ['sources', 'add', 'deep.json', '--url', 'http://127.0.0.1:1'],
  ]) {
    const run = await tidemark(words, { cwd: folder, input: '' });
    expect(run).toMatchObject({ code: 2, output: '', errors: expect.stringMatching(fault) });
    expect(run.errors.trim().split('\n')).toHaveLength(2);
  }
  await writeFile(join(folder, 'cut.json'), '{\n  "csv": {}\n  "match": FILL\n');
  const cut = await tidemark(['mapping', 'check', 'cut.json', '-'], { cwd: folder, input: '' });
  expect(cut.errors.trim().split('\n').slice(1)).toEqual([
    expect.stringMatching(/cut\.json:3 \/: is not JSON \(comma expected at "match": FILL\)$/),
  ]);
  const brackets = '['.repeat(50);
  await writeFile(join(folder, 'flat.json'), `// ${brackets}\n${'[],'.repeat(50)}{"${brackets}": "${brackets}"}`);
  const flat = await tidemark(['mapping', 'check', 'flat.json', '-'], { cwd: folder, input: '' });
  expect(flat).toMatchObject({ code: 2, errors: expect.not.stringContaining('nested') });
});

test('check lists the reasons of refusals, and the observations that are there twice', async () => {
  const csv = (await readFile(join(SAMPLE, 'currency-api.csv'), 'utf8')).split('\n').slice(0, 2);
  const rows = ['xxx', 'yyy', 'xxx', 'zzz'].map((quote) => `2024.3.2,2024-03-02,eur,${quote},1`);
  const input = [...csv, csv[1], ...rows].join('\n');
  const { code, errors } = await tidemark(['mapping', 'check', join(SAMPLE, 'mapping.json'), '-'], { input });
  expect(code).toBe(4);
  expect(errors).toMatch(/:4 .*"xxx".*\n {2}and 3 more of this kind, on lines \d+, \d+, \d+, .*"yyy".*"zzz"/);
  expect(errors).toMatch(/:3: .* line 2 /);
});

test('check names the empty cell that a market needs, and its row', async () => {
  const folder = await temporaryFolder();
  const mapping = {
    ...{ csv: { delimiter: ',' }, match: ['leaf'] },
    market: { slug: '{leaf}', name: '{leaf}', kind: 'food', nativeCurrency: 'USD', unit: { quantity: '1', of: 'kg' } },
    observation: {
      ...{ value: { column: 'price', rounding: 'refuse' }, currency: 'USD', sourceLabel: 'A source' },
      ...{ date: { column: 'day', format: 'YYYY-MM-DD', precision: 'day' }, sourceUrl: 'https://source.example/' },
      ...{ confidence: 'high', status: 'final' },
    },
  };
  await writeFile(join(folder, 'a.json'), JSON.stringify(mapping));
  const input = 'day,leaf,price\n2026-01-01,green,1\n2026-01-02,,1\n2026-01-03, ,1\n2026-01-04,-,1\n';
  const { code, errors } = await tidemark(['mapping', 'check', 'a.json', '-'], { cwd: folder, input });
  expect(code).toBe(4);
  expect(errors).toMatch(
    /^stdin:3 leaf: record\.invalid: the cell is empty, but the market’s slug and name need it[^\n]*\n {2}and 1 more of this kind, on line 4\nstdin:5 slug: /,
  );
});

test('check warns of a URL that may change between two versions of a file', async () => {
  const folder = await temporaryFolder();
  const mapping = await readFile(join(SAMPLE, 'mapping.json'), 'utf8');
  await writeFile(join(folder, 'a.jsonc'), mapping.replace('{observedDate}/v1', '{value}/v1'));
  const { errors } = await tidemark(['mapping', 'check', 'a.jsonc', join(SAMPLE, 'currency-api.csv')], { cwd: folder });
  expect(errors).toContain('a.jsonc: sourceUrl has {value}, which names no market');
});

test.each<[readonly string[], string]>([
  [['init', '-'], 'no line has two fields'],
  [['init', 'no-such.csv'], 'no file'],
  [['check', 'no-such.jsonc', 'no-such.csv'], 'cannot be read'],
  [['check', join(SAMPLE, 'mapping.json'), 'no-such.csv'], 'no file'],
])('%j is refused', async (words, part) => {
  expect(await tidemark(['mapping', ...words])).toMatchObject({
    code: 2,
    output: '',
    errors: expect.stringContaining(part),
  });
});
