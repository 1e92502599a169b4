/** What surrounds a command fails: the disk, the reader of its output, the network, the person who stops it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testAuthority } from '../sources/test-certificates.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { json, type Reply, stubServer } from './stub-server.ts';
import { finished, MAIN, type Run, spawnTidemark, tidemark, tidemarkOnTerminal } from './tidemark.ts';

const KEY = { TIDEMARK_KEY: 'key' };

/** A line of bash with `$TIDEMARK` in it. */
async function bash(script: string, environment: Readonly<Record<string, string>> = {}, cwd?: string): Promise<Run> {
  const { PATH = '' } = process.env;
  const env = { PATH, TIDEMARK: `${process.execPath} ${MAIN}`, TIDEMARK_CONFIG: '/no.json', ...KEY, ...environment };
  return await finished(spawn('bash', ['--norc', '-c', script], { env, ...(cwd === undefined ? {} : { cwd }) }));
}

const market = (slug: string, more: object = {}) => ({ slug, metrics: { price: null }, unit: {}, ...more });
const page = (data: readonly unknown[]) => json({ data, page: { next: null, nextCursor: null } });
/** In the order of slugs, without which a walk leaves items out. */
const markets = page(Array.from({ length: 5_000 }, (_, index) => market(`market-${10_000 + index}`)));

/** Answers every batch, and every upload once its file has arrived. */
const ingestStub: Reply = (request, response) => {
  const counts = { accepted: 1, unchanged: 0, refused: 0 };
  const done = { counts, errors: [], refusedIn: [], put: null, done: { records: 1 }, generation: 2, finishedAt: 'now' };
  json({ id: 'x_1', state: 'applied', records: 1, ...done })(request, response);
};
const observations = (count: number) => '{"type":"observation","market":"a"}\n'.repeat(count);
/** No file that the command writes may be longer than 1 KiB. */
const FULL = "trap '' XFSZ; ulimit -f 1;";

describe('a full disk', () => {
  test.each([
    ['at once', '$TIDEMARK markets list --url $URL > /dev/full', 'no space left'],
    ['later', `${FULL} $TIDEMARK markets list --url $URL > out`, 'file too large'],
  ])('for the output ends with 1, and a line without a stack: %s', async (_, script, part) => {
    const { url } = await stubServer(markets);
    const { code, errors } = await bash(script, { URL: url }, await temporaryFolder());
    expect([code, errors]).toEqual([1, expect.stringContaining(part)]);
    expect(errors).not.toMatch(/\n\s+at /);
  });

  test('for the report does not end the run, and ends with 1', async () => {
    const { url, seen } = await stubServer(ingestStub);
    const folder = await temporaryFolder();
    const input = `${'nonsense\n'.repeat(100)}${observations(1)}`;
    await writeFile(join(folder, 'a.ndjson'), input);
    const run = await bash(`${FULL} $TIDEMARK ingest a.ndjson --partial --report r --url $URL`, { URL: url }, folder);
    expect(run).toMatchObject({ code: 1, output: expect.stringContaining('stored\t1\n') });
    expect(run.errors).toContain('The report r is not complete: ');
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('for the copy of a large file ends with 1 before anything is sent, and names the folder', async () => {
    const { url, seen } = await stubServer(ingestStub);
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'a.ndjson'), observations(11_000));
    const script = `${FULL} $TIDEMARK ingest a.ndjson --partial --url $URL`;
    const { code, errors } = await bash(script, { URL: url, TMPDIR: folder }, folder);
    expect([code, errors]).toEqual([1, expect.stringContaining('TMPDIR=')]);
    expect(errors).toContain(`${folder} cannot be written`);
    expect(seen).toEqual([]);
    expect(await readdir(folder)).toEqual(['a.ndjson']);
  });
});

/** In-process writes are not repeated: no network is between. */
test('a disk that fails under the data folder ends a run at once, and is named without options of a client', async () => {
  const folder = await temporaryFolder();
  const rows = Array.from({ length: 1_000 }, (_, day) => ({
    ...{ type: 'observation', market: 'a', metric: 'price', amountMinor: 100, currency: 'USD', status: 'final' },
    ...{ sourceLabel: 'A source', sourceUrl: `https://source.example/${day}`, confidence: 'high' },
    observedAt: new Date(Date.UTC(2020, 0, 1 + day)).toISOString().replace('.000Z', 'Z'),
  }));
  const unit = { quantity: 1, of: 'kilogram' };
  const defined = { type: 'market', slug: 'a', name: 'A', kind: 'metal', nativeCurrency: 'USD', unit };
  await writeFile(join(folder, 'a.ndjson'), [defined, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''));
  const script = `trap '' XFSZ; ulimit -f 300; $TIDEMARK run a.ndjson --unsigned --data ./data --to ./site --json`;
  const { code, output, errors } = await bash(script, {}, folder);
  expect([code, JSON.parse(output), errors]).toMatchObject([
    1,
    { outcome: 'findings', detail: expect.stringMatching(/^The disk of the data folder .*data (is full|fails)/) },
    expect.not.stringMatching(/--timeout|--idempotency-key|Next try/),
  ]);
});

test('a reader that has seen enough ends the command, and that is no error', async () => {
  const { url } = await stubServer(markets);
  for (const words of ['markets list', 'markets list --json']) {
    const run = await bash(`$TIDEMARK ${words} --url $URL | head -n 1; echo \${PIPESTATUS[0]}`, { URL: url });
    expect(run).toMatchObject({ code: 0, output: expect.stringMatching(/^.+\n0\n$/), errors: '' });
  }
});

describe('the network', () => {
  test('drops the connection in the middle of an answer: it is asked for again', async () => {
    const torn: Reply = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"data":[', () => response.socket?.destroy());
    };
    const { url, seen } = await stubServer(torn, page([market('gold')]));
    const run = await tidemark(['markets', 'list', '--url', url]);
    expect(run).toMatchObject({ code: 0, output: expect.stringMatching(/^gold\t/) });
    expect(seen).toHaveLength(2);
  });

  test('does not know the host: exit code 5', async () => {
    const run = await tidemark(['status', '--url', 'https://tidemark.invalid', '--patience', '0']);
    expect(run).toMatchObject({ code: 5, errors: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/) });
  });

  test('has a server whose certificate nobody knows: exit code 5, and how to trust it', async () => {
    const authority = testAuthority();
    const secure = createServer(authority.issue(['localhost']), (request, response) =>
      page([market('gold')])(request as never, response),
    );
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    onTestFinished(() => void secure.close());
    const words = ['markets', 'list', '--url', `https://localhost:${(secure.address() as AddressInfo).port}`];
    const refused = await tidemark([...words, '--patience', '0']);
    expect(refused).toMatchObject({ code: 5, output: '', errors: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
    const path = join(await temporaryFolder(), 'authority.pem');
    await writeFile(path, authority.certificate);
    expect(await tidemark(words, { environment: { NODE_EXTRA_CA_CERTS: path } })).toMatchObject({ code: 0 });
  });
});

describe('a server of a newer version', () => {
  const more = { later: { added: [1] }, alsoLater: null };
  test.each<[string, readonly string[], Reply]>([
    ['a market', ['markets', 'list'], page([market('gold', more)])],
    ['a market of a kind that is not known', ['markets', 'list', '--json'], page([market('gold', { status: 'new' })])],
    [
      'an observation',
      ['markets', 'history', 'gold', '--csv', '--versions'],
      page([{ id: 'a', observedAt: '2026-11-01T00:00:00Z', recordedAt: 'x', ...more }]),
    ],
    ['a resource', ['watchlists', 'show', 'wl_1'], json({ id: 'wl_1', ...more })],
    ['a list', ['audit', 'search'], page([{ id: 'aud_1', action: 'newOperation', ...more }])],
    ['a report', ['ingest', '-'], (...both) => ingestStub(...both)],
  ])('may add fields: %s', async (_, words, reply) => {
    const { url } = await stubServer(reply);
    const run = await tidemark([...words, '--url', url], { environment: KEY, input: observations(1) });
    expect(run).toMatchObject({ code: 0, output: expect.stringMatching(/./) });
    expect(run.errors).not.toMatch(/\n\s+at /);
  });
});

describe('Ctrl-C', () => {
  test('ends a command whose server never answers; on a terminal, it says how far it is after two seconds', async () => {
    const { url } = await stubServer(() => {});
    const path = join(await temporaryFolder(), 'records.ndjson');
    await writeFile(path, observations(1));
    const words = ['ingest', path, '--url', url, '--timeout', '600'];
    const run = await tidemarkOnTerminal(words, { environment: KEY, keys: ['Sending [', '\u0003'] });
    expect(run.output).toContain('Sending [');
  });

  /** Waits until the command has printed this. */
  async function printed(child: ChildProcess, part: string): Promise<void> {
    let text = '';
    for await (const chunk of child.stderr ?? []) {
      text += String(chunk);
      if (text.includes(part)) return;
    }
    throw new Error(`the command ended without ${part}: ${text}`);
  }

  test('while a large file is sent leaves no copy of it', async () => {
    const folder = await temporaryFolder();
    const { url, seen } = await stubServer((request, response) => {
      // The announcement is never answered.
      if (request.method !== 'POST') ingestStub(request, response);
    });
    const words = ['ingest', '-', '--partial', '--url', url];
    const child = spawnTidemark(words, { environment: { ...KEY, TMPDIR: folder } });
    child.stdin?.end(observations(11_000));
    await expect.poll(() => seen.length).toBe(1);
    const [copy = ''] = await readdir(folder);
    expect(await readFile(join(folder, copy, 'records.ndjson'), 'utf8')).toBe(observations(11_000));
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
    expect(existsSync(join(folder, copy))).toBe(false);
  });

  test('between two parts, then --resume: each part is sent under the key that it had', async () => {
    const { url, seen } = await stubServer(ingestStub);
    const input = Array.from({ length: 2_500 }, (_, index) => `{"type":"observation","market":"m-${index}"}\n`).join(
      '',
    );
    const first = spawnTidemark(['ingest', '-', '--url', url], { environment: KEY });
    const named = printed(first, '--resume ');
    // More than one part of 1,000 records, and less than two.
    first.stdin?.write(input.slice(0, input.length / 2));
    const keysOf = () =>
      seen.flatMap(({ method, headers }) => (method === 'POST' ? [String(headers['idempotency-key'])] : []));
    await named;
    await expect.poll(() => keysOf().length).toBe(1);
    first.kill('SIGINT');
    expect(await once(first, 'close')).toEqual([null, 'SIGINT']);
    const [key = ''] = keysOf();
    const [run = ''] = key.split('-');
    const again = await tidemark(['ingest', '-', '--resume', run, '--url', url], { environment: KEY, input });
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('generation\t2\n') });
    const keys = keysOf();
    expect(keys).toHaveLength(4);
    expect(keys[1]).toBe(key);
    expect(new Set(keys).size).toBe(3);
  });
});
