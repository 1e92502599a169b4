/**
 * The daily files of a running server with its sample, as hledger, beancount, clients of currency-api, and the JSONPath of
 * Ghostfolio and Portfolio Performance read them. The commands of docs/compat.md are run as they stand there.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Tidemark } from '../../clients/typescript/tidemark.ts';
import type { CompatRate, MarketQuotes } from '../../contract/bodies/compat.ts';
import { partOf } from '../../publisher/projections/compat/names.ts';
import { missingProgram } from '../hosting/proxy.ts';
import { listeningForTest } from '../listening.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { SELECTORS } from './installations.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('beancount-tools'), 'bin', 'python');
const NPM = toolFolder('npm-tools');
const JAVA = toolFolder('java-tools');
const PROGRAMS = join(import.meta.dirname, 'compat');
const DOCS = readFileSync(join(import.meta.dirname, '../../docs/compat.md'), 'utf8');

const reason = missingProgram('hledger');

const server = sampleServerForAll('all');
let compat = '';
let folder = '';
/** Of all markets, from their quotes. */
let pricesThere = 0;

beforeAll(async () => {
  folder = server.folder;
  compat = `${server.url}/api/v1/compat`;
  const [, commands = ''] = /```sh\n(cd "\$\(mktemp -d\)".*?)```/s.exec(DOCS) ?? [];
  const download = async (script: string) => {
    const text = script.replace('cd "$(mktemp -d)"', '').replace('http://127.0.0.1:8787/api/v1/compat', compat);
    const { exitCode, output } = await runTool('bash', ['-euo', 'pipefail', '-c', text], { cwd: folder });
    expect([exitCode, output]).toEqual([0, 'P 2026-09-29 "GOLD-USD" 4129.10 USD\n']);
  };
  await download(commands);
  const show = commands.split('\n').at(-2) as string;
  const forBeancount = commands
    .replaceAll('prices.journal', 'prices.beancount')
    .replaceAll('/hledger/', '/beancount/')
    .replace(show, '');
  await download(forBeancount.replace("'s/^include //p'", `'s/^include "\\(.*\\)"/\\1/p'`) + show);
  const parts = (await (await fetch(`${compat}/parts.json`)).json()) as { readonly [slug: string]: string };
  for (const part of new Set(Object.values(parts))) {
    const quotes = (await (await fetch(`${compat}/quotes/${part}.json`)).json()) as {
      readonly [slug: string]: MarketQuotes;
    };
    for (const own of Object.values(quotes)) pricesThere += own.quotes.length;
  }
  expect(pricesThere).toBeGreaterThan(1_000);
});

/** A copy of the price files in which one line of gold is damaged. */
async function damaged(extension: string): Promise<string> {
  const copy = await mkdtemp(join(folder, 'damaged-'));
  const files = readdirSync(folder).filter((file) => file.endsWith(`.${extension}`));
  for (const file of files) cpSync(join(folder, file), join(copy, file));
  const includes = join(copy, `prices.${extension}`);
  const gold = join(copy, `${partOf('gold-usd')}.${extension}`);
  const text = readFileSync(gold, 'utf8');
  writeFileSync(gold, text.replace('4129.10 USD', '41..29 USD'));
  return includes;
}

describe.skipIf(reason !== null)('hledger', () => {
  const hledger = (file: string, ...words: readonly string[]) =>
    runTool('hledger', ['-f', file, ...words], { cwd: folder });

  test('reads every price, and prints it as it stands in the file', async () => {
    const { exitCode, stdout } = await hledger('prices.journal', 'prices');
    const lines = stdout.trimEnd().split('\n');
    expect([exitCode, lines.length]).toEqual([0, pricesThere]);
    const { stdout: written } = await runTool('bash', ['-c', 'grep -h ^P [0-9a-f][0-9a-f].journal'], { cwd: folder });
    expect(lines.sort()).toEqual(written.trimEnd().split('\n').sort());
  });

  test('values a holding', async () => {
    const ledger = '2026-09-30 bought\n  assets:gold  2 "GOLD-USD"\n  equity\n';
    writeFileSync(join(folder, 'mine.journal'), `include prices.journal\n${ledger}`);
    const { stdout } = await hledger('mine.journal', 'balance', 'assets', '--exchange', 'USD', '--no-total');
    expect(stdout).toMatch(/^ +8258\.20* USD +assets:gold\n$/);
  });

  test('would report a damaged line', async () => {
    const { exitCode, output } = await hledger(await damaged('journal'), 'prices');
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/86\.journal:\d+.*41\.\.29/s)]);
  });
});

describe('beancount', () => {
  const beancount = (file: string) =>
    runTool(PYTHON, [join(PROGRAMS, 'count_prices.py'), file, 'GOLD-USD'], { cwd: folder });

  test('reads every price without an error', async () => {
    const { exitCode, output } = await beancount('prices.beancount');
    expect([exitCode, output]).toEqual([0, `${pricesThere} 2026-09-29 4129.10 USD\n`]);
  });

  test('would report a damaged line', async () => {
    const { exitCode, output } = await beancount(await damaged('beancount'));
    expect([exitCode, output]).toEqual([1, expect.stringMatching(/86\.beancount:\d+: Invalid token/)]);
  });
});

describe('a client of currency-api', () => {
  const client = (base: string, date = 'latest') =>
    runTool('python3', [join(PROGRAMS, 'rates_client.py'), base, date, '2', 'eur', 'usd'], { cwd: folder });

  async function expected(): Promise<string> {
    const rates = (await (await fetch(`${compat}/currency-api@latest/v1/currencies/eur.json`)).json()) as {
      readonly date: string;
      readonly derived: { readonly rates: { readonly usd: CompatRate } };
    };
    const { decimal, quantity, isInverse } = rates.derived.rates.usd;
    expect(isInverse).toBe(false);
    return `${rates.date}: 2 Euro is ${2 * (Number(decimal) / quantity)} US Dollar\n`;
  }

  test('converts at the rate of the price that the file names, of today and of that day', async () => {
    const line = await expected();
    expect(await client(`${compat}/currency-api`)).toMatchObject({ exitCode: 0, output: line });
    expect(await client(`${compat}/currency-api`, line.slice(0, 10))).toMatchObject({ exitCode: 0, output: line });
  });

  test('falls back to .json', async () => {
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      const isMissing = url.endsWith('.min.json');
      response.writeHead(isMissing ? 404 : 302, isMissing ? {} : { location: compat + url }).end();
    });
    expect((await client(`${await listeningForTest(server)}/currency-api`)).output).toBe(await expected());
    expect(asked).toHaveLength(4);
  });

  test('would fail on a day without rates', async () => {
    expect((await client(`${compat}/currency-api`, '2001-01-01')).exitCode).toBe(1);
  });
});

describe('the selectors that the document gives', () => {
  const selectors = [...new Set(DOCS.match(/\$\['gold-usd'\][\w.[\]*]+/g))];
  const file = () => join(folder, 'quotes.json');

  /** Of each day, the last price, by our API, oldest first. */
  async function pricesOfApi(): Promise<ReadonlyMap<string, number>> {
    const prices = new Map<string, number>();
    const client = new Tidemark({ url: compat.replace('/api/v1/compat', '') });
    for await (const row of client.history('gold-usd')) {
      const day = row.observedAt.slice(0, 'YYYY-MM-DD'.length);
      if (row.kind === 'money' && row.supersededBy === null && !prices.has(day)) prices.set(day, Number(row.decimal));
    }
    return new Map([...prices].reverse());
  }

  beforeAll(async () => {
    writeFileSync(file(), await (await fetch(`${compat}/quotes/${partOf('gold-usd')}.json`)).text());
  });

  test.each([
    [
      'jsonpath, as Ghostfolio',
      async () => {
        const jsonpath = createRequire(join(NPM, 'package.json'))('jsonpath');
        const quotes = JSON.parse(readFileSync(file(), 'utf8'));
        return selectors.map((selector) => jsonpath.query(quotes, selector));
      },
    ],
    [
      'Jayway JsonPath, as Portfolio Performance',
      async () => {
        const words = ['-cp', join(JAVA, '*'), join(SELECTORS, 'Select.java'), file(), ...selectors];
        const { stdout } = await runTool('java', words, { cwd: folder });
        const lines = stdout.trimEnd().split('\n');
        return lines.map((line) => [JSON.parse(line)].flat());
      },
    ],
  ])('find in %s what our API says', async (_, select) => {
    const prices = await pricesOfApi();
    expect(prices.size).toBeGreaterThan(30);
    const found = await select();
    expect(Object.fromEntries(selectors.map((selector, place) => [selector, found[place]]))).toEqual({
      "$['gold-usd'].price": [4129.1],
      "$['gold-usd'].quotes[*].date": [...prices.keys()],
      "$['gold-usd'].quotes[*].close": [...prices.values()],
    });
  });
});
