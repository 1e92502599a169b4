/** The packed package in an empty folder, with the Node of a user: installed, started and asked. */
import { execFileSync, spawn } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { siteFiles } from '../../tools/build/build-site.ts';
import { NO_CONFIG } from '../cli/tidemark.ts';
import { watchServer } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { type Packed, packedService, USERS_ENVIRONMENT } from './users-machine.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The documentation takes a fifth of them, and the pages for people more than a fourth. */
const PACKED_BYTES_MAX = 1_300_000;

let packed: Packed;
beforeAll(async () => {
  packed = await packedService();
});

/** Beside the code in dist/, the pages and the documentation. */
const SHIPPED = [
  /^(CHANGELOG|CONTRIBUTING|LICENSE|README|SECURITY)(\.md)?$/,
  /^package\.json$/,
  /^cli\/tidemark\.mjs$/,
  /^clients\/(mcp|python|typescript)\/README\.md$/,
  /^docs\/openapi\.json$/,
  /^docs\/examples\/[\w/-]+\.(fods|html|json|mjs|py|sh|toml|yaml)$/,
  /^infra\/hosting\/(caddy|cloudflare|job|nginx|systemd)\/[\w.-]+$/,
  /^mapping\/recipes\/[\w-]+\.json$/,
  /^mapping\/sample\/[\w-]+\.(csv|json|md|ndjson)$/,
];

it('is small, and holds all documents and pages, and no sources and no tests', () => {
  expect(packed.size).toBeLessThan(PACKED_BYTES_MAX);
  const names = packed.files.map((file) => file.path);
  const isDocument = (name: string) => /^docs\/.*\.md$/.test(name);
  const isPage = (name: string) => name.startsWith('clients/web/built/');
  const others = names.filter((name) => !name.startsWith('dist/') && !isDocument(name) && !isPage(name));
  expect(others.filter((name) => !SHIPPED.some((pattern) => pattern.test(name)))).toEqual([]);
  for (const pattern of SHIPPED) expect(others).toContainEqual(expect.stringMatching(pattern));
  expect(names.filter((name) => /\.test\.|(?<!\.d)\.ts$/.test(name))).toEqual([]);
  expect(names.filter(isPage).sort()).toEqual(siteFiles().map((file) => `clients/web/built/${file}`));
  expect(names.filter(isDocument).sort()).toEqual(globSync('docs/**/*.md', { cwd: ROOT }).sort());
});

it('runs by npx in an empty folder: start, and then markets list', async () => {
  const empty = await temporaryFolder();
  const env = { ...USERS_ENVIRONMENT, TIDEMARK_CONFIG: NO_CONFIG };
  const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', packed.path];
  execFileSync('npm', install, { cwd: empty, env, stdio: 'ignore' });
  expect(readdirSync(empty).sort()).toEqual(['node_modules', 'package-lock.json', 'package.json']);
  const tidemark = (...words: readonly string[]) =>
    execFileSync('npx', ['--no-install', 'tidemark', ...words], {
      cwd: empty,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const start = ['--no-install', 'tidemark', 'start', '--port', '0'];
  const server = watchServer(spawn('npx', start, { cwd: empty, env, detached: true }), true);
  try {
    const base = await server.started;
    const built = readFileSync(join(ROOT, 'clients/web/built/index.html'), 'utf8');
    expect(assetsOf(await (await fetch(`${base}/`)).text())).toEqual(assetsOf(built));
    expect(assetsOf(built).length).toBeGreaterThan(1);
    expect(tidemark('markets', 'list').trimEnd().split('\n')).toHaveLength(175);
    expect(JSON.parse(tidemark('status', '--json')).health.status).toBe('ok');
    expect(tidemark('publish', 'gold-usd')).toContain('state\tpublished');
    tidemark('init', 'prices', '--recipe', 'ecb-daily', '--origin', 'data.example');
    expect(readdirSync(join(empty, 'prices'))).toContain('publish.sh');
  } finally {
    await server.end('SIGINT');
  }
  expect(tidemark('gc', '--dry-run')).toContain('A run would remove: ');
});

/** The names have digests of what the files hold. */
const assetsOf = (page: string) => page.match(/assets\/[^"]+/g) ?? [];
