/** The packed package in an empty folder, with the Node of a user: installed, started and asked. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { siteFiles } from '../../tools/build/build-site.ts';
import { NO_CONFIG } from '../cli/tidemark.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The documentation takes a fifth of them, and the pages for people more than a fourth. */
const PACKED_BYTES_MAX = 1_300_000;

interface PackedPackage {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let empty: string;
let packed: PackedPackage;

/** Without the Node and the tools of this project. */
const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((entry) => !/[\\/](node_modules|node-gyp-bin)\b/.test(entry))
  .join(delimiter);
const kept =
  /^(HOME|USER|LANG|TMPDIR|(http|https|no|all)_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|userconfig|globalconfig|cafile))$/i;
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name))),
  PATH: path,
  TIDEMARK_CONFIG: NO_CONFIG,
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-package-'));
  empty = join(folder, 'empty');
  mkdirSync(empty);
  const output = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  [packed] = JSON.parse(output.slice(output.indexOf('[\n'))) as [PackedPackage];
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('is small, and holds no sources and no tests', () => {
  expect(packed.size).toBeLessThan(PACKED_BYTES_MAX);
  const names = packed.files.map((file) => file.path);
  const isDocument = (name: string) => /^docs\/.*\.md$/.test(name);
  const isPage = (name: string) => name.startsWith('clients/web/built/');
  expect(names.filter((name) => !name.startsWith('dist/') && !isDocument(name) && !isPage(name)).sort()).toEqual(
    [
      ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md'],
      ...[
        'cli/tidemark.mjs',
        'clients/typescript/README.md',
        'clients/python/README.md',
        ...['caddy/Caddyfile', 'caddy/folder.Caddyfile', 'nginx/folder.conf', 'nginx/tidemark.conf'].map(
          (name) => `infra/hosting/${name}`,
        ),
        ...['_headers', '_routes.json', '_worker.js'].map((name) => `infra/hosting/cloudflare/${name}`),
        ...['cloudflare.yml', 'github.yml', 'gitlab.yml', 'publish.sh'].map((name) => `infra/hosting/job/${name}`),
        ...['tidemark-backup.service', 'tidemark-backup.timer', 'tidemark.service'].map(
          (unit) => `infra/hosting/systemd/${unit}`,
        ),
        'docs/openapi.json',
        ...[
          'chart.html',
          'history_as_of.py',
          'ledger-prices.sh',
          'openbb/openbb_tidemark.py',
          'openbb/pyproject.toml',
          'price-alert.mjs',
          'spreadsheet.fods',
          'tidemark_source.py',
          ...['grafana/dashboard.json', 'home-assistant/configuration.yaml'],
        ].map((name) => `docs/examples/${name}`),
        'clients/mcp/README.md',
        'package.json',
      ],
      ...[
        ...['brent-daily', 'currency-api-eur', 'currency-api-usd', 'currency-api-xau', 'ecb-90-days', 'ecb-daily'],
        ...['ecb-daily-xml', 'ecb-history', 'energy-charts-de-lu', 'hmrc-monthly', 'litellm', 'models-dev'],
      ].map((name) => `mapping/recipes/${name}.json`),
      ...[
        'mapping/sample/README.md',
        'mapping/sample/cocoa.ndjson',
        'mapping/sample/currency-api.csv',
        'mapping/sample/mapping.json',
        'mapping/sample/models.csv',
        'mapping/sample/models.json',
      ],
    ].sort(),
  );
  expect(names.filter(isPage).sort()).toEqual(siteFiles().map((file) => `clients/web/built/${file}`));
  expect(names.filter(isDocument).sort()).toEqual(globSync('docs/**/*.md', { cwd: ROOT }).sort());
});

it('has every page that a page of it links to', () => {
  const names = new Set(packed.files.map((file) => file.path));
  const dead = [...names]
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => {
      const text = readFileSync(join(ROOT, page), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+\.md)(?:#[^)]*)?\)/g)];
      return links.map(([, link = '']) => join(dirname(page), link)).filter((target) => !names.has(target));
    });
  expect(dead).toEqual([]);
});

it('runs by npx in an empty folder: start, and then markets list', async () => {
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', join(folder, packed.filename)], {
    cwd: empty,
    env: environment,
    stdio: 'ignore',
  });
  expect(readdirSync(empty).sort()).toEqual(['node_modules', 'package-lock.json', 'package.json']);
  const tidemark = (...words: readonly string[]) =>
    execFileSync('npx', ['--no-install', 'tidemark', ...words], {
      cwd: empty,
      env: environment,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const server = spawn('npx', ['--no-install', 'tidemark', 'start', '--port', '0'], {
    cwd: empty,
    env: environment,
    detached: true,
  });
  const ended = once(server, 'close');
  try {
    let output = '';
    await new Promise<void>((resolve, reject) => {
      server.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
        if (/curl -i \S+/.test(output)) resolve();
      });
      server.once('close', () => reject(new Error(`it ended:\n${output}`)));
    });
    const [, base = ''] = /curl -i (\S+?)\/api\//.exec(output) ?? [];
    const built = readFileSync(join(ROOT, 'clients/web/built/index.html'), 'utf8');
    expect(assetsOf(await (await fetch(`${base}/`)).text())).toEqual(assetsOf(built));
    expect(assetsOf(built).length).toBeGreaterThan(1);
    expect(tidemark('markets', 'list').trimEnd().split('\n')).toHaveLength(175);
    expect(JSON.parse(tidemark('status', '--json')).health.status).toBe('ok');
    expect(tidemark('publish', 'gold-usd')).toContain('state\tpublished');
    expect(tidemark('gc', '--help')).toContain('--dry-run');
    tidemark('init', 'prices', '--recipe', 'ecb-daily', '--origin', 'data.example');
    // A stop while the daily files are made leaves files that nothing leads to.
    const lastOfDaily = `${base}/api/v1/compat/parts.json`;
    await expect.poll(async () => (await fetch(lastOfDaily)).status, { timeout: 120_000, interval: 500 }).toBe(200);
    expect(readdirSync(join(empty, 'prices'))).toContain('publish.sh');
  } finally {
    // As a terminal sends Ctrl-C: to npx and everything below it.
    process.kill(-(server.pid as number), 'SIGINT');
    await ended;
  }
  expect(tidemark('gc', '--dry-run')).toContain('A run would remove: 0 objects');
});

/** The names have digests of what the files hold. */
const assetsOf = (page: string) => page.match(/assets\/[^"]+/g) ?? [];
