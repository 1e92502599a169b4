/** The programs of docs/examples/, as their README says, beside a running server with its sample. */
import { spawn } from 'node:child_process';
import { on } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Tidemark } from '../../clients/typescript/tidemark.ts';
import { buildClient } from '../../tools/build/build-client.ts';
import { openBrowser } from '../browser/browser.ts';
import { missingProgram } from '../hosting/proxy.ts';
import { listeningForTest } from '../listening.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { runTool } from './run-tool.ts';
import { valuesOfSpreadsheet } from './spreadsheet.ts';
import { toolFolder } from './tool-folder.ts';

const EXAMPLES = join(import.meta.dirname, '../../docs/examples');
const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

const server = sampleServerForAll('all');
let folder: string;
let url: string;
beforeAll(() => {
  ({ folder, url } = server);
});

test('each has at most 30 lines, and stands in the list', () => {
  const list = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
  const programs = globSync('*.*', { cwd: EXAMPLES }).filter((name) => name !== 'README.md');
  expect(programs).toHaveLength(6);
  for (const name of programs) {
    expect(readFileSync(join(EXAMPLES, name), 'utf8').split('\n').length - 1, name).toBeLessThanOrEqual(30);
    expect(list).toContain(`[${name}](${name})`);
  }
});

test('the history as of a moment has every price that was known then, exactly', async () => {
  const env = { PYTHONPATH: join(EXAMPLES, '../../clients/python/src') };
  const run = (asOf: string) =>
    runTool(PYTHON, [join(EXAMPLES, 'history_as_of.py'), 'silver-usd', asOf, url], { cwd: folder, env });
  const now = await run(new Date().toISOString());
  expect(now.output).toMatch(/^2026-09-29 00:00:00\+00:00 +6061\.75 +USD .* None$/m);
  expect([now.exitCode, now.output.trimEnd().split('\n').at(-1)]).toEqual([0, '57 prices, 0 of them unknown']);
  const before = await run('2026-01-01T00:00:00Z');
  expect([before.exitCode, before.output]).toEqual([
    1,
    'silver-usd: the service had no data at 2026-01-01T00:00:00Z\n',
  ]);
});

test('the chart is drawn on a page of another origin', async () => {
  const { path, now } = await drawnChart('gold-usd');
  expect(now).toBe('4129.10 USD for 1 troy ounce, 2026-09-29T00:00:00Z, currency-api daily release');
  // One line without a gap, through all of the 57 prices, from the left edge to the right one.
  expect(path.match(/M/g)).toHaveLength(1);
  expect(path.match(/[ML]/g)).toHaveLength(57);
  expect(path).toMatch(/^M5,.*L595,[\d.]+$/);
});

async function drawnChart(slug: string): Promise<{ readonly path: string; readonly now: string }> {
  const page = readFileSync(join(EXAMPLES, 'chart.html'));
  const host = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(page));
  const browser = await openBrowser();
  try {
    const shown = await browser.newPage();
    await shown.goto(`${await listeningForTest(host)}/?url=${url}&market=${slug}`);
    const now = shown.locator('#now:not(:empty)');
    return { now: await now.innerText(), path: (await shown.locator('#chart').getAttribute('d')) ?? '' };
  } finally {
    await browser.close();
  }
}

async function ingestForTest(records: readonly object[]): Promise<void> {
  const tidemark = new Tidemark({ url, key: server.key });
  const { id } = await tidemark.ingest(records as never);
  expect(await tidemark.waitForBatch(id)).toMatchObject({ state: 'applied', errors: [] });
}

test('the spreadsheet shows the price as a number, and the moment', async (context) => {
  const reason = missingProgram('soffice');
  if (reason !== null) context.skip(reason);
  const text = readFileSync(join(EXAMPLES, 'spreadsheet.fods'), 'utf8');
  // The formula that its comment shows to people is the one of the cell.
  const [, shown = ''] = /C2 {2}=(.*)/.exec(text) ?? [];
  const [, stored = ''] = /formula="of:=(IFERROR.*?)"\/>/.exec(text) ?? [];
  const asShown = stored
    .replaceAll('&quot;', '"')
    .replaceAll('ORG.LIBREOFFICE.', '')
    .replaceAll(/\[\.(\w+)\]/g, '$1');
  expect(asShown).toBe(shown);
  const document = join(folder, 'spreadsheet.fods');
  await writeFile(document, text.replaceAll('http://127.0.0.1:8787', url));
  const [, values = ''] = (await valuesOfSpreadsheet(document, folder)).split('\n');
  expect(values).toMatch(/^gold-usd,.*,4129\.1,2026-09-29T00:00:00Z$/);
});

test('neither the spreadsheet nor the chart takes an announced or retracted price for the newest one', async (context) => {
  const reason = missingProgram('soffice');
  if (reason !== null) context.skip(reason);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const about = { market: 'power-usd', metric: 'price', sourceUrl: 'https://example.org/power' };
  const rest = {
    type: 'observation',
    ...about,
    currency: 'USD',
    sourceLabel: 'A test',
    confidence: 'high',
    status: 'final',
  };
  await ingestForTest([
    {
      type: 'market',
      slug: 'power-usd',
      name: 'Power',
      kind: 'power',
      nativeCurrency: 'USD',
      unit: { quantity: 1, of: 'MWh' },
    },
    { ...rest, value: '10', observedAt: '2026-11-01T00:00:00Z' },
    { ...rest, value: '11', observedAt: '2026-11-02T00:00:00Z' },
    { ...rest, value: '12', observedAt: '2026-11-03T00:00:00Z' },
    { ...rest, amountMinor: null, unknownReason: 'withheld', observedAt: '2026-11-04T00:00:00Z' },
    { ...rest, value: '13', observedAt: tomorrow, announced: true },
  ]);
  await ingestForTest([
    { type: 'retraction', kind: 'mistake', ...about, reason: 'A test', observedAt: '2026-11-02T00:00:00Z' },
  ]);
  const document = join(folder, 'power.fods');
  const text = readFileSync(join(EXAMPLES, 'spreadsheet.fods'), 'utf8').replace(
    '<text:p>gold-usd',
    '<text:p>power-usd',
  );
  await writeFile(document, text.replaceAll('http://127.0.0.1:8787', url));
  const [, values = ''] = (await valuesOfSpreadsheet(document, folder)).split('\n');
  expect(values).toMatch(/^power-usd,.*,unknown,2026-11-04T00:00:00Z$/);
  const { path, now } = await drawnChart('power-usd');
  expect([now.split(',')[0], path.match(/[ML]/g)]).toEqual(['unknown (withheld) USD for 1 MWh', ['M', 'L']]);
});

test('a journal is valued with the downloaded prices', async (context) => {
  const reason = missingProgram('hledger');
  if (reason !== null) context.skip(reason);
  await copyFile(join(EXAMPLES, 'ledger-prices.sh'), join(folder, 'ledger-prices.sh'));
  await writeFile(join(folder, 'my.journal'), '2026-01-01 opening\n  assets:gold   2 "GOLD-USD"\n  equity\n');
  const command = ['ledger-prices.sh', 'my.journal', 'USD'];
  const { exitCode, stdout } = await runTool('sh', command, { cwd: folder, env: { TIDEMARK_URL: url } });
  expect(stdout).toMatch(/^ *8258\.20(?:0+)? USD {2}assets:gold$/m);
  expect(exitCode).toBe(0);
});

describe('bean-price', () => {
  const BIN = join(toolFolder('beancount-tools'), 'bin');

  test.each([
    [
      'the newest prices, for one if they are for ten, and reports a market that does not exist',
      ['USD:tidemark_source/gold-usd', 'EUR:tidemark_source/aave-eur', 'USD:tidemark_source/no-such-market'],
      '2026-09-29 price aave-eur 131.314 EUR\n2026-09-29 price gold-usd 4129.10 USD\n',
    ],
    [
      'that of a day, with the day on which it was, and reports a market that does not exist',
      ['-d', '2026-01-15', 'USD:tidemark_source/gold-usd', 'USD:tidemark_source/no-such-market'],
      '2026-01-01 price gold-usd 4315.10 USD\n',
    ],
    ['nothing before the first price, and reports it', ['-d', '2001-01-15', 'USD:tidemark_source/gold-usd'], ''],
  ])('fetches %s', async (_, args, lines) => {
    const { stdout, output } = await beanPrice(args);
    expect([stdout.replaceAll(/ +/g, ' '), output.match(/Could not fetch/g)]).toEqual([lines, ['Could not fetch']]);
  });

  function beanPrice(args: readonly string[]) {
    // Its dates are those of the local time zone.
    const env = { PYTHONPATH: EXAMPLES, TIDEMARK_URL: url, TZ: 'UTC' };
    // The program's first line names the folder in which it was installed, which has moved.
    const command = [join(BIN, 'bean-price'), '--no-cache', '-e', ...args];
    return runTool(join(BIN, 'python'), command, { cwd: folder, env });
  }
});

// The last one, because it changes what the others read.
test('the alert tells when the price crosses the limit, and only then', async () => {
  buildClient(join(folder, 'node_modules/tidemark-client'));
  await copyFile(join(EXAMPLES, 'price-alert.mjs'), join(folder, 'price-alert.mjs'));
  const alert = spawn('node', ['price-alert.mjs', 'gold-usd', '4131', url], { cwd: folder });
  onTestFinished(() => void alert.kill());
  const lines = on(createInterface(alert.stdout), 'line');
  const nextLine = async () => String(((await lines.next()).value as string[])[0]);
  expect(await nextLine()).toMatch(/^2026-09-29T00:00:00Z gold-usd is below 4131: \d+\.\d\d USD, https:/);
  for (const [value, day] of [
    ['4130.99', '01'],
    ['4131.00', '02'],
  ] as const) {
    const observedAt = `2026-11-${day}T00:00:00Z`;
    const about = {
      type: 'observation',
      market: 'gold-usd',
      metric: 'price',
      currency: 'USD',
      status: 'final',
    } as const;
    const source = { sourceLabel: 'A test', sourceUrl: 'https://example.org/', sourceValue: value, confidence: 'high' };
    await ingestForTest([{ ...about, ...source, amountMinor: Number(value.replace('.', '')), observedAt }]);
  }
  expect(await nextLine()).toBe('2026-11-02T00:00:00Z gold-usd is above 4131: 4131.00 USD, https://example.org/');
});
