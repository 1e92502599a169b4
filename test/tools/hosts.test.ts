/**
 * One service, published by `tidemark run`, on each host that can run here: the tools of readers and the pages work there
 * unchanged. Other tests try our own server by all of them. Caddy answers as nginx does: test/slow/folder-hosting.test.ts.
 */
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeLogKey } from '../../server/commands/log-keys.ts';
import { installed } from '../aws/engines/installation.ts';
import { moto } from '../aws/engines/moto.ts';
import { makePublicBucket } from '../aws/s3-bucket.ts';
import { openBrowser, openPage } from '../browser/browser.ts';
import { tidemarkHere } from '../cli/in-process.ts';
import { type Run, tidemark } from '../cli/tidemark.ts';
import { startFileServer } from '../hosting/file-server.ts';
import { missingProgram } from '../hosting/proxy.ts';
import { type ReverseProxy, startNginxFolder } from '../hosting/reverse-proxies.ts';
import { market, price } from '../publisher/world.ts';
import { startServer } from '../server/server-process.ts';
import { folderForAll, temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const HERE = join(import.meta.dirname, 'hosts');
const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');
const { key, vkey } = makeLogKey('hosts.test.example/prices');
/** Files of all kinds are asked for in test/slow/folder-hosting.test.ts. */
const PROJECTIONS = 'log,latest,market-pages';
const SETTINGS = { TIDEMARK_LOG_KEY: key, TIDEMARK_PROJECTIONS: PROJECTIONS, TIDEMARK_SAMPLE: 'no' };
/** A second page of the list. Some are called as folders of the API are. */
const SLUGS = [...Array.from({ length: 102 }, (_, index) => `m-${String(index).padStart(3, '0')}`), 'markets', 'pages'];
const REMOVED = 'm-050';
/** A second page of the history. */
const DAYS = 70;

interface Serving {
  readonly url: string;
  /** By which clients know it. Default: it serves without TLS. */
  readonly certificate?: ReverseProxy['certificate'];
  stop(): unknown;
}

interface Host {
  readonly name: string;
  /** A program of this machine that it needs. */
  readonly program: string;
  /** `files`: it knows only files. `API`: it has our configuration, so plain `verify` judges it. */
  readonly answers: 'files' | 'API';
  /** @param site the public files. They stay as they are. @param folder for what it needs beside them */
  serve(site: string, folder: string): Promise<Serving>;
}

const HOSTS: readonly Host[] = [
  {
    ...{ name: 'python3 -m http.server, below a path', program: 'python3', answers: 'files' },
    async serve(site) {
      const { url, stop } = await startFileServer(join(site, '..'));
      return { url: `${url}/site`, stop };
    },
  },
  {
    ...{ name: 'nginx', program: 'nginx', answers: 'API' },
    serve: async (site, folder) => await startNginxFolder(folder, site, null),
  },
  {
    ...{ name: 'an S3 engine, whose bucket a run fills from the log', program: 'python3', answers: 'files' },
    async serve(site, folder) {
      const { endpoint, stop } = await moto.start(await installed(moto));
      const { bucket } = await makePublicBucket(endpoint);
      const place = { AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: 'us-east-1' };
      const environment = {
        ...SETTINGS,
        ...place,
        AWS_ACCESS_KEY_ID: 'engine',
        AWS_SECRET_ACCESS_KEY: 'engine-secret',
      };
      const words = ['--from-log', site, '--to', `s3://${bucket}/site`, '--data', join(folder, 'data')];
      const { code, errors } = await tidemarkHere(['run', ...words], { environment });
      expect(code, errors).toBe(0);
      return { url: `${endpoint}/${bucket}/site`, stop };
    },
  },
];

const temporary = folderForAll();
let site: string;
let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
  const { folder } = temporary;
  site = join(folder, 'site');
  const daysOf = (slug: string) => Array.from({ length: slug === 'markets' ? DAYS : 1 }, (_, day) => day);
  const records = SLUGS.flatMap((slug) => [market(slug), ...daysOf(slug).map((day) => price(slug, day, 1000 + day))]);
  const file = join(folder, 'records.ndjson');
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const data = join(folder, 'data');
  const run = await tidemarkHere(['run', file, '--to', site, '--data', data], { environment: SETTINGS });
  expect(run.code, run.errors).toBe(0);
  // Only a server removes a market.
  const server = startServer({ ...SETTINGS, TIDEMARK_DATA: data });
  await server.started;
  const removal = ['removals', 'create', REMOVED, '--reason', 'Over.', '--yes', '--data', data];
  expect(await tidemarkHere(removal)).toMatchObject({ code: 0 });
  await server.end('SIGTERM');
  const end = await tidemarkHere(['run', '--data', data], { environment: SETTINGS });
  expect([0, 8], end.errors).toContain(end.code);
});

afterAll(() => browser?.close());

describe.each(HOSTS)('on $name', ({ name, program, answers, serve }) => {
  const reason = missingProgram(program);
  if (reason !== null) return test('is tried where its program is installed', ({ skip }) => skip(reason));

  let serving: Serving;
  let environment: Readonly<Record<string, string>>;
  let ask: (words: readonly string[]) => Promise<Run>;
  beforeAll(async () => {
    const folder = join(temporary.folder, name.replaceAll(/\W+/g, '-'));
    mkdirSync(folder);
    serving = await serve(site, folder);
    const { certificate } = serving;
    // A certificate is read at the start of a process.
    ask = certificate ? (words) => tidemark(words, { environment }) : tidemarkHere;
    environment = certificate ? { NODE_EXTRA_CA_CERTS: certificate.path, SSL_CERT_FILE: certificate.path } : {};
  });
  afterAll(async () => await serving?.stop());

  test('verify finds nothing, in the log either', async () => {
    const log = ['--log', '--log-key', vkey, '--removed', REMOVED];
    const words = ['verify', ...(answers === 'files' ? ['--static'] : []), serving.url, ...log];
    expect(await ask(words)).toMatchObject({ code: 0, output: '' });
  });

  test.each([
    ['TypeScript', process.execPath, 'walk.ts'],
    ['Python', PYTHON, 'walk.py'],
  ] as const)('the client for %s reads all pages of the list, a history and the log', async (_, runtime, script) => {
    const env = { ...environment, PYTHONPATH: join(HERE, '../../../clients/python/src') };
    const { stdout, output } = await runTool(runtime, [script, serving.url], { cwd: HERE, env });
    expect(stdout, output).not.toBe('');
    expect(JSON.parse(stdout)).toEqual({
      slugs: SLUGS.filter((slug) => slug !== REMOVED),
      amounts: Array.from({ length: DAYS }, (_, day) => `${((1000 + day) / 100).toFixed(2)}`).reverse(),
      ...{ latest: SLUGS.length - 1, areChangesAll: true },
      ...{ missing: 'not-found', removed: answers === 'API' ? 'market-removed' : 'not-found' },
    });
  });

  test('a mirror is current', async () => {
    const words = ['mirror', serving.url, join(await temporaryFolder(), 'mirror'), '--once', '--json'];
    const { output, errors } = await ask(words);
    expect(JSON.parse(output), errors).toMatchObject({ state: 'current' });
  });

  test('a receipt of a value proves it without a network', async () => {
    const file = join(await temporaryFolder(), 'receipt');
    const value = ['markets', '--observed-at', '2026-01-04T00:00:00Z', '--output', file];
    const written = await ask(['receipt', ...value, '--url', serving.url, '--log-key', vkey]);
    expect(written.code, written.errors).toBe(0);
    const proven = await tidemarkHere(['receipt', 'verify', file, '--log-key', vkey, '--json']);
    expect(JSON.parse(proven.output)).toMatchObject({ entry: { market: 'markets', amountMinor: 1003 } });
  });

  test('the pages show the markets and a history to people', async () => {
    const { page, complaints } = await openPage(browser, { baseURL: serving.url, ignoreHTTPSErrors: true });
    await page.goto(`${serving.url}/index.html`);
    await page.getByRole('searchbox').fill('Market markets');
    await page.locator('#markets').getByRole('link', { name: 'Market markets', exact: true }).click();
    await page.getByText('10.69 USD').first().waitFor();
    await page.getByRole('link', { name: 'Docs', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Documentation', exact: true }).waitFor();
    expect(complaints.filter((line) => !line.includes('status of 404'))).toEqual([]);
    await page.context().close();
  });
});
