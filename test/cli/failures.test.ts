/** What a person reads when a request fails, and what is tried again. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pageCursor } from '../../contract/files/cursors.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere } from './in-process.ts';
import { broken, json, type Reply, refusal, stubServer } from './stub-server.ts';
import { finished, spawnTidemark, tidemarkOnTerminal } from './tidemark.ts';

const KEY = { TIDEMARK_KEY: 'tdm_dev_test' };
const WAITING = { id: 'pub_1', markets: ['gold'], purge: false, state: 'waiting', generation: null, publishedAt: null };
const PUBLISHED = { ...WAITING, state: 'published', generation: 7, publishedAt: '2026-11-20T12:00:00Z' };

const publish = (url: string, ...words: readonly string[]) =>
  tidemarkHere(['publish', 'gold', '--url', url, ...words], { environment: KEY });

test('a write is sent again, with the same idempotency key, until it has an answer', async () => {
  const { url, seen } = await stubServer(broken, refusal('contention'), json(WAITING, 202), json(PUBLISHED));
  const { code, output } = await publish(url);
  expect([code, output]).toEqual([0, expect.stringContaining('generation\t7\n')]);
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST', 'GET']);
  const keys = seen.slice(0, 3).map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
});

describe('a failure ends with', () => {
  test.each<[string, number, Reply, readonly string[]]>([
    ['an expired key', 3, refusal('unauthenticated'), ['401 unauthenticated', 'TIDEMARK_KEY', 'urn:request:test']],
    ['a missing scope', 3, refusal('forbidden'), ['403 forbidden', 'The reason of this test.']],
    ['the quota of the day', 3, refusal('daily-quota-exceeded', { 'retry-after': '1' }), ['daily-quota-exceeded']],
    [
      'a redirection',
      3,
      (_, response) => void response.writeHead(301, { location: 'https://other.example/' }).end(),
      ['https://other.example/'],
    ],
    ['a longer wait than its patience', 5, refusal('rate-limited', { 'retry-after': '60' }), ['--idempotency-key']],
    ['no settled answer', 5, refusal('service-unavailable'), ['503 service-unavailable', '--idempotency-key']],
    ['an answer that is not JSON', 5, (_, response) => void response.end('<html>'), ['not JSON', 'proxy']],
  ])('%s: exit code %i', async (_, exit, reply, parts) => {
    const { url } = await stubServer(reply);
    const { code, output, errors } = await publish(url, '--patience', '0');
    expect([code, output]).toEqual([exit, '']);
    for (const part of parts) expect(errors).toContain(part);
    expect(errors).not.toContain(KEY.TIDEMARK_KEY);
    expect(errors).not.toMatch(/\n\s+at /);
  });

  test('a publication that does not end in time: exit code 6, and how to look again', async () => {
    const { url } = await stubServer(json(WAITING, 202), json(WAITING));
    const { code, output, errors } = await publish(url, '--wait', '0.2');
    expect(code).toBe(6);
    expect(output).toContain('state\twaiting');
    expect(errors).toContain('publications show pub_1');
  });

  test('rows that are stored and not public in time: exit code 6, the reason of the service, and what to do', async () => {
    const counts = { accepted: 1, unchanged: 0, refused: 0 };
    const report = {
      id: 'bat_1',
      state: 'applied',
      records: 1,
      counts,
      errors: [],
      finishedAt: 'now',
      generation: null,
    };
    const faults = [{ part: 'publishing', detail: 'Publications fail.' }];
    const service: Reply = (request, response) =>
      request.url === '/healthz'
        ? json({ status: 'failing', faults, deferred: 2 }, 503)(request, response)
        : json(report, request.method === 'POST' ? 202 : 200)(request, response);
    const { url } = await stubServer(service);
    const ingest = (wait: string, body = report) => {
      Object.assign(report, body);
      const words = ['ingest', '-', '--partial', '--wait', wait, '--url', url];
      return tidemarkHere(words, { environment: KEY, input: '{"type":"observation"}\n' });
    };
    const { code, output, errors } = await ingest('0.2');
    expect([code, output]).toEqual([6, expect.stringContaining('stored\t1\n')]);
    expect(errors).toContain('stdin: stored, and not public after 0.2 s: 1 new record.\n');
    expect(errors).toContain('The service says: publishing: Publications fail.\n');
    expect(errors).toMatch(/: 2\.\nSend nothing again: .*tidemark status/);
    expect(await ingest('0')).toMatchObject({ code: 0 });
    // A refused row needs a person.
    const refused = { ...report, records: 2, counts: { ...counts, refused: 1 } };
    expect(await ingest('0.2', refused)).toMatchObject({ code: 4, errors: expect.stringContaining('not public') });
  });

  test('a server that is not there: exit code 5 at once, and how to start one', async () => {
    const startedMs = performance.now();
    const { code, errors } = await tidemarkHere(['status', '--url', 'http://127.0.0.1:2']);
    expect([code, errors]).toEqual([5, expect.stringContaining('tidemark start')]);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });

  test('an answer that never comes: exit code 5', async () => {
    const { url } = await stubServer(() => {});
    const { code, errors } = await tidemarkHere(['status', '--url', url, '--timeout', '0.2', '--patience', '0']);
    expect([code, errors]).toEqual([5, expect.stringContaining('took too long')]);
  });
});

describe('a walk whose cursor expires', () => {
  const item = (slug: string, revision: number) => ({ slug, revision, metrics: { price: null }, unit: {} });
  const linksTo = (nextCursor: string | null) => ({
    next: nextCursor && `markets/pages/${nextCursor}.json`,
    nextCursor,
  });
  const page = (nextCursor: string | null, ...data: readonly unknown[]) => json({ data, page: linksTo(nextCursor) });

  test('begins again, and goes on behind the last market that it gave', async () => {
    const second = pageCursor(2, sha256Hex(JSON.stringify({ data: [item('c', 2)], page: linksTo(null) })));
    const { url, seen } = await stubServer(
      page('1-a', item('a', 1), item('b', 1)),
      refusal('not-found'),
      page(second, item('a', 2), item('aa', 2), item('b', 2)),
      page(null, item('c', 2)),
    );
    const { code, output, errors } = await tidemarkHere(['markets', 'list', '--json', '--url', url]);
    expect([code, errors]).toEqual([0, expect.stringContaining('expired')]);
    expect(JSON.parse(output).map(({ slug }: { slug: string }) => slug)).toEqual(['a', 'b', 'c']);
    const files = ['', '/pages/1-a', '', `/pages/${second}`].map((path) => `/api/v1/markets${path}.json`);
    expect(seen.map((request) => request.url)).toEqual(files);
  });

  test('a page that is not a page is refused', async () => {
    const { url } = await stubServer(json({ data: 'a' }));
    const { code, errors } = await tidemarkHere(['markets', 'list', '--url', url]);
    expect([code, errors]).toEqual([5, expect.stringContaining('not a page')]);
  });
});

describe('what a terminal would obey or be misled by is shown, and not passed on:', () => {
  /** Of a terminal: C0, DEL, C1, and controls of direction. */
  const BAD = '\u001b]0;x\u0007\u009b2J\u007f\u202e\u2066';
  const UNPRINTABLE = /[\p{Cc}--[\n\t]]|\p{Bidi_Control}/v;
  const metric = { kind: 'scalar', value: BAD, unit: BAD, observedAt: BAD, status: BAD, sourceLabel: BAD };
  const market = {
    ...{ slug: BAD, name: BAD, kind: BAD, status: BAD, nativeCurrency: BAD, unit: { quantity: 1, of: BAD } },
    ...{ metrics: { price: metric, [BAD]: metric }, bySource: {}, history: { count: 1 }, sources: [], revision: 1 },
  };
  const list = { data: [market], page: { next: null, nextCursor: null } };
  const raw: Reply = (_, response) => void response.end(BAD);
  const refused: Reply = (_, response) => {
    response.writeHead(410, { 'content-type': PROBLEM_CONTENT_TYPE });
    response.end(JSON.stringify({ code: 'gone', title: BAD, detail: BAD, instance: BAD, errors: [] }));
  };

  /** The second walk of `verify`, sixteen seconds later, says nothing else. */
  async function run(words: readonly string[]) {
    if (words[0] !== 'verify') return await tidemarkHere(words);
    const child = spawnTidemark(words);
    child.stderr?.on('data', (chunk: Buffer) => /looking again/.test(String(chunk)) && child.kill());
    return await finished(child);
  }

  test.each<[command: string, reply: Reply]>([
    ['markets list', json(list)],
    ['markets list --json', json(list)],
    ['markets show a', json(market)],
    ['markets show a --json', json(market)],
    ['markets show a', refused],
    ['markets history a --csv', refused],
    ['markets history a --csv', json(BAD, 410)],
    ['markets history a --csv', json({ instead: { [BAD]: BAD } }, 410)],
    ['markets history a', raw],
    ['status', json(BAD)],
    ['verify URL', json(list)],
    ['verify URL', raw],
    ['verify URL --log --json', json(list)],
    ['mirror URL FOLDER --once', json(BAD)],
    ['mirror URL FOLDER --once', (_, response) => void response.writeHead(301, { location: 'http://a/\u009b' }).end()],
    ['doctor URL', json(BAD)],
  ])('%s', async (command, reply) => {
    const { url } = await stubServer(reply);
    const folder = join(await temporaryFolder(), 'mirror');
    const words = command.replace('URL', url).replace('FOLDER', folder).split(' ');
    const options = command.includes('URL') ? [] : ['--url', url];
    const { output, errors } = await run([...words, ...options, '--patience', '0']);
    expect(output + errors).not.toMatch(UNPRINTABLE);
    expect(output + errors).not.toBe('');
    if (command.endsWith('--json') && output !== '') expect(() => JSON.parse(output)).not.toThrow();
  });

  test('a file of a history is passed on byte by byte, where no terminal reads it', async () => {
    const { url } = await stubServer(raw);
    expect((await tidemarkHere(['markets', 'history', 'a', '--csv', '--url', url])).output).toBe(BAD);
    const shown = await tidemarkOnTerminal(['markets', 'history', 'a', '--csv', '--url', url]);
    expect(shown.output).not.toMatch(/[\p{Cc}--[\n\r\t]]|\p{Bidi_Control}/v);
  });

  test('JSON means the same as before', async () => {
    const { url } = await stubServer(json(market));
    const { output } = await tidemarkHere(['markets', 'show', 'a', '--json', '--url', url]);
    expect(JSON.parse(output)).toEqual(market);
  });
});

describe('an upload whose file does not arrive', () => {
  const record = JSON.stringify({ type: 'observation', market: 'a' });
  const input = `${record}\n`.repeat(11_000);
  const done = { done: { records: 11_000 }, counts: { accepted: 11_000, unchanged: 0, refused: 0 }, refusedIn: [] };

  /** Announces, then answers PUTs by these replies; after the last one the file has arrived. */
  async function storage(...replies: readonly Reply[]) {
    return await storageAt('/put?secret', ...replies);
  }

  async function storageAt(target: string, ...replies: readonly Reply[]) {
    let puts = 0;
    const upload = () => {
      const put = puts < replies.length ? { url: target, headers: { 'if-none-match': '*' } } : null;
      const finishedAt = put === null ? '2026-11-20T12:00:00Z' : null;
      return { id: 'upl_1', state: 'applied', put, finishedAt, generation: 3, ...done };
    };
    return await stubServer((request, response) => {
      if (request.method !== 'PUT') return json(upload(), request.method === 'POST' ? 201 : 200)(request, response);
      (replies[puts++] as Reply)(request, response);
    });
  }

  const ingest = (url: string) => tidemarkHere(['ingest', '-', '--partial', '--url', url], { environment: KEY, input });

  test.each<[string, Reply]>([
    ['a dropped connection', broken],
    ['503', (_, response) => void response.writeHead(503).end()],
    ['412: it is there already', (_, response) => void response.writeHead(412).end()],
  ])('is read, and put again if it must be, after %s', async (_, failure) => {
    const { url, seen } = await storage(failure, (__, response) => void response.writeHead(204).end());
    expect(await ingest(url)).toMatchObject({ code: 0, output: expect.stringContaining('stored\t11000\n') });
    const puts = seen.filter(({ method }) => method === 'PUT');
    expect(puts).toHaveLength(2);
    expect(puts[1]?.body).toBe(input);
    // The URL is the credential.
    expect(puts.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    expect(puts[1]?.headers['if-none-match']).toBe('*');
  });

  test.each([
    ['http at another host', 'http://127.0.0.2:1/put', []],
    ['https at another host', 'https://storage.example/put', []],
    ['https at another host than the declared one', 'https://storage.example/put', ['--upload-host', 'bucket.example']],
    ['another port of this machine', 'http://127.0.0.1:1/put', []],
    ['the service with a password', 'http://a:b@SAME/put', []],
    ['a file', 'file:///etc/passwd', []],
  ])('sends nothing to %s', async (_, target, words) => {
    const other = await stubServer((__, response) => void response.writeHead(204).end());
    const named = target.replace('127.0.0.1:1', new URL(other.url).host);
    const { url, seen } = await storageAt(named.replace('SAME', new URL(other.url).host), (__, response) => {
      response.writeHead(204).end();
    });
    const run = await tidemarkHere(['ingest', '-', '--partial', '--url', url, ...words], { environment: KEY, input });
    expect(run.code).toBe(2);
    expect([...seen, ...other.seen].filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test('goes to the declared host by https, without the key', async () => {
    // Nothing listens there: the request was tried, and not refused before.
    const { url } = await storageAt('https://127.0.0.1:1/put', (_, response) => void response.writeHead(204).end());
    const words = ['ingest', '-', '--partial', '--url', url, '--upload-host', '127.0.0.1:1'];
    expect((await tidemarkHere(words, { environment: KEY, input })).code).toBe(5);
  });

  test('follows no redirect', async () => {
    const other = await stubServer((_, response) => void response.writeHead(204).end());
    const { url } = await storage(
      (_, response) => void response.writeHead(307, { location: `${other.url}/put` }).end(),
    );
    expect((await ingest(url)).code).toBe(3);
    expect(other.seen).toEqual([]);
  });

  test('ends with the words of the storage that refuses it', async () => {
    const { url } = await storage((_, response) => void response.writeHead(403).end('<Code>AccessDenied</Code>'));
    expect(await ingest(url)).toMatchObject({ code: 3, errors: expect.stringContaining('AccessDenied') });
  });
});
