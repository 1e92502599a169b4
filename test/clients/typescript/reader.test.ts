/** The client reads from several hosts and trusts the key: whatever a host answers, a proven value is a signed one. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type HostAnswer,
  NoHostError,
  type ReaderOptions,
  TidemarkReader,
} from '../../../clients/typescript/reader.ts';
import { importLogKey, LogVerificationError } from '../../../clients/typescript/signed-log.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { publish } from '../../../publisher/publish.ts';
import type { PublicResponse } from '../../../publisher/verify/reader.ts';
import { testSigner, withLog } from '../../publisher/log/test-log.ts';
import { createWorld, market, price, readerOf, type World } from '../../publisher/world.ts';
import { temporaryFolder } from '../../storage/temporary-folder.ts';

const { vkey } = testSigner();
const HISTORY = '/api/v1/markets/gold-usd/history.json';
let world: World;

beforeAll(async () => {
  world = createWorld();
  const { dependencies } = world;
  // The newest rows are in the first tile of entries, which is full; the last one is partial.
  for (const from of [0, 300]) {
    const days = Array.from({ length: 300 }, (_, day) => price('gold-usd', -from - day, 1 + from + day));
    await world.ingest([market('gold-usd'), ...days]);
    await publish(withLog(dependencies));
  }
});

/** Changes what a host answers; undefined: no answer. */
type Host = (path: string, answer: PublicResponse) => PublicResponse | undefined;

const honest: Host = (_, answer) => answer;
const jsonOf = (status: number, value: unknown): PublicResponse => ({
  status,
  headers: new Map(),
  body: Buffer.from(JSON.stringify(value)),
});
const mirrorOf =
  (document: object, host = honest): Host =>
  (path, answer) =>
    path === '/api/v1/mirror' ? jsonOf(200, document) : host(path, answer);
const changed =
  (where: string | RegExp, change: (text: string) => string): Host =>
  (path, answer) => {
    if (!(typeof where === 'string' ? path === where : where.test(path))) return answer;
    const isZipped = path.endsWith('.gz');
    const text = (isZipped ? gunzipSync(answer.body) : Buffer.from(answer.body)).toString('latin1');
    const body = Buffer.from(change(text), 'latin1');
    return { ...answer, body: isZipped ? gzipSync(body) : body };
  };

/** The hosts are `https://0.example` and so on. */
function readerFrom(hosts: readonly Host[], options: Partial<ReaderOptions> = {}) {
  const asked: string[] = [];
  const ask = async (url: Parameters<typeof fetch>[0]) => {
    const { hostname, pathname } = url as URL;
    asked.push(`${hostname[0]}${pathname}`);
    const answer = hosts[Number(hostname[0])]?.(pathname, await readerOf(world.objects)(pathname));
    if (answer === undefined) throw new TypeError('fetch failed');
    return new Response(Buffer.from(answer.body), { status: answer.status });
  };
  const names = hosts.map((_, index) => `https://${index}.example`);
  return {
    reader: new TidemarkReader({ hosts: names, vkeys: [vkey], nowMs: Date.now, fetch: ask, ...options }),
    asked,
  };
}

const textOf = ({ body }: HostAnswer) => new TextDecoder().decode(body);

describe('the next host is asked', () => {
  test.each<[string, Host]>([
    ['without an answer', () => undefined],
    ['after an answer 503', () => jsonOf(503, {})],
    ['after an answer 429', () => jsonOf(429, {})],
    ['if a mirror is too old', mirrorOf({ ageSeconds: 301, state: 'unreachable' })],
    ['if a mirror has no copy yet', mirrorOf({ ageSeconds: null, state: 'starting' })],
    ['if a mirror has found a fork', mirrorOf({ ageSeconds: 3, state: 'forked' })],
    [
      'if a mirror says nothing sensible',
      (path, answer) => (path === '/api/v1/mirror' ? { ...answer, status: 200, body: Buffer.from('<') } : answer),
    ],
  ])('%s', async (_, first) => {
    const { reader } = readerFrom([first, mirrorOf({ ageSeconds: 12, state: 'current' })]);
    const answer = await reader.get('/api/v1/markets/gold-usd');
    expect([answer.host, answer.status]).toEqual(['https://1.example', 200]);
    expect(textOf(answer)).toContain('"slug":"gold-usd"');
    expect(reader.refused.size).toBe(0);
  });

  test('but not after 404: that is an answer', async () => {
    const { reader, asked } = readerFrom([honest, honest]);
    expect((await reader.get('/api/v1/markets/none')).status).toBe(404);
    expect(asked).toEqual(['0/api/v1/mirror', '0/api/v1/markets/none']);
  });

  test('and if none is left, the error names each one with its reason', async () => {
    const { reader } = readerFrom([() => undefined, mirrorOf({ ageSeconds: 400, state: 'current' })]);
    const failed = expect(reader.get('/api/v1/markets')).rejects;
    await failed.toThrow(NoHostError);
    await expect(reader.get('/api/v1/markets')).rejects.toThrow(
      /0\.example gave no answer.*1\.example is a mirror.*400 s/,
    );
  });
});

test('proves the newest value, and an old one deep in the tree', async () => {
  const { reader } = readerFrom([mirrorOf({ ageSeconds: 1, state: 'current' })]);
  const { row, entry, log, host } = await reader.provenObservation('gold-usd');
  expect([row.observedAt, host, log]).toEqual([
    entry.observedAt,
    'https://0.example',
    { origin: 'tidemark.test/log', size: 602 },
  ]);
  const old = await reader.provenObservation('gold-usd', (rows) => rows.at(-1));
  expect(old.entry.id).toBe(old.row.id);
});

const flipped = (text: string) =>
  `${text.slice(0, 40)}${String.fromCharCode(text.charCodeAt(40) ^ 1)}${text.slice(41)}`;

describe('answers of any wrong shape make the next host be asked:', () => {
  const row = { id: 'obs_1', metric: 'price', kind: 'money', observedAt: '2026-01-01', recordedAt: '2026-01-01' };
  const objects = { toString: 1 };
  test.each([
    ...['null', '1e999', '-1', '"x"', '[]', 'true', '{}', '{"data":null}', '{"data":7}', '{"data":{"0":1}}', '<', ''],
    ...[
      null,
      1e300,
      'x',
      [],
      {},
      row,
      { ...row, id: 1 },
      { ...row, recordedAt: 5 },
      { ...row, observedAt: objects },
    ].map((item) => JSON.stringify({ data: [item] })),
    JSON.stringify({ ageSeconds: objects, state: objects }),
    '{"ageSeconds":-1e999,"state":"current"}',
    '{"ageSeconds":1e999}',
  ])('%s', async (text) => {
    const answer = { ...jsonOf(200, null), body: Buffer.from(text) };
    const pick = (rows: readonly PublicObservation[]) => rows.find(({ observedAt }) => observedAt.startsWith('20'));
    const history = readerFrom([(path, right) => (path === HISTORY ? answer : right), honest]).reader;
    expect((await history.provenObservation('gold-usd', pick)).host).toBe('https://1.example');
    const { reader } = readerFrom([(path, right) => (path === '/api/v1/mirror' ? answer : right), honest]);
    expect((await reader.get(HISTORY)).host).toBe('https://1.example');
  });

  test('bytes that are no text', async () => {
    const garbage = { ...jsonOf(200, null), body: Buffer.from([0xff, 0xfe, 0]) };
    for (const where of ['/history.json', '/mirror', '/checkpoint', '/tile', '/ndjson']) {
      const { reader } = readerFrom([(path, right) => (path.includes(where) ? garbage : right), honest]);
      expect([where, (await reader.provenObservation('gold-usd')).host]).toEqual([where, 'https://1.example']);
    }
  });
});

describe('a host that lies is refused and named, and the next one is asked:', () => {
  test.each<[string, Host, RegExp]>([
    [
      'another amount',
      changed(HISTORY, (text) => text.replace('"amountMinor":1,', '"amountMinor":2,')),
      /amountMinor of obs_/,
    ],
    [
      'another decimal',
      changed(HISTORY, (text) => text.replace('"decimal":"0.01"', '"decimal":"0.02"')),
      /decimal of obs_/,
    ],
    [
      'a row that is not in the log',
      changed(HISTORY, (text) => text.replace(/"id":"obs_.{4}/, '"id":"obs_0000')),
      /not in the log/,
    ],
    [
      'a changed entry',
      changed(/ndjson/, (text) => text.replace('"amountMinor":1,', '"amountMinor":2,')),
      /not the one that is signed|amountMinor/,
    ],
    ['entries that are no JSON', changed(/ndjson/, (text) => text.replaceAll('{', '(')), /cannot be read/],
    ['a partial tile with another bit', changed(/tile\/0\/002/, flipped), /do not give the root/],
    ['a full tile with another bit', changed(/tile\/0\/00[01]$/, flipped), /not the one that is signed/],
    [
      'a checkpoint with another size',
      changed(/checkpoint/, (text) => text.replace('\n602\n', '\n601\n')),
      /no known key/,
    ],
    [
      'a checkpoint of another key',
      changed(/checkpoint/, (text) => text.replaceAll('tidemark.test', 'tidemark.best')),
      /no known key/,
    ],
    ['a checkpoint that is none', changed(/checkpoint/, () => 'x'), /not a signed checkpoint/],
  ])('%s', async (_, liar, reason) => {
    const { reader, asked } = readerFrom([liar, honest]);
    // Each full tile is needed for some row.
    for (const at of [0, -1]) {
      const { host, row, entry } = await reader.provenObservation('gold-usd', (rows) => rows.at(at));
      if (host === 'https://0.example') continue;
      expect([row.id, host]).toEqual([entry.id, 'https://1.example']);
    }
    expect([...reader.refused]).toEqual([['https://0.example', expect.stringMatching(reason)]]);
    asked.length = 0;
    await reader.get('/api/v1/markets');
    expect(asked).not.toContain('0/api/v1/markets');
  });
});

test('a row that is newer than the log is no lie: the host is asked again later', async () => {
  const now = new Date().toISOString();
  const early = changed(HISTORY, (text) =>
    text.replace(/"id":"obs_.{4}/, '"id":"obs_0000').replace(/"recordedAt":"[^"]+"/, `"recordedAt":"${now}"`),
  );
  const { reader } = readerFrom([early]);
  await expect(reader.provenObservation('gold-usd')).rejects.toThrow(/newer than its log/);
  expect(reader.refused.size).toBe(0);
});

test.each([
  ['none', [], RangeError],
  ['a text that is no key', ['gold'], LogVerificationError],
  ['a key whose id is another', [vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+')], LogVerificationError],
])('a proof needs a key: %s', async (_, vkeys, error) => {
  await expect(readerFrom([honest], { vkeys }).reader.provenObservation('gold-usd')).rejects.toThrow(error);
});

test('a key is read as its text says', async () => {
  expect(await importLogKey(vkey)).toMatchObject({ name: 'tidemark.test/log', id: vkey.split('+')[1] });
});

test('the example of docs/reading.md runs, bundled for a browser without anything of Node', async () => {
  const page = await readFile(new URL('../../../docs/reading.md', import.meta.url), 'utf8');
  const example = /```ts\n([\s\S]*?)```/.exec(page)?.[1]?.replace(/'data\.example\/log\+[^']+'/, `'${vkey}'`) ?? '';
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents: example, resolveDir: root, loader: 'ts' },
    ...{ bundle: true, write: false, format: 'esm', platform: 'browser', target: 'es2022' },
    alias: { 'tidemark-client': './clients/typescript/reader.ts' },
    absWorkingDir: root,
  });
  const [{ text } = { text: '' }] = outputFiles;
  expect(text).not.toMatch(/\bBuffer\b|node:|\bprocess\./);
  const file = join(await temporaryFolder(), 'example.mjs');
  await writeFile(file, text);
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((...words) => void printed.push(words.join(' ')));
  vi.stubGlobal('fetch', async (url: URL) => {
    if (url.hostname === 'data.example') throw new TypeError('fetch failed');
    const { status, body } = await readerOf(world.objects)(url.pathname);
    return new Response(Buffer.from(body), { status });
  });
  await import(file);
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  expect(printed).toEqual([
    'https://mirror.example 0.01',
    expect.stringMatching(/^0\.01 is entry \d+ of tidemark\.test\/log, from https:\/\/mirror\.example$/),
  ]);
});
