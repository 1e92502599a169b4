/** Large files over the embedded server's port, as a client puts them. */
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EdgeLimits } from '../../server/edge/limits.ts';
import { createUploadServer } from '../../server/http/upload-server.ts';
import { openDirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { converse, parseReply, startEdge } from './edge/edge-fixture.ts';
import { RawClient } from './edge/raw-client.ts';

const ID = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const TEXT = '{"type":"market"}\n';
const CONTENT = { bytes: Buffer.byteLength(TEXT), sha256: sha256Hex(TEXT) };
const MINUTE_MS = 60_000;

async function serving(limits: Partial<EdgeLimits> = {}) {
  const clock = { nowMs: Date.parse('2026-10-01T12:00:00Z') };
  const folder = `${await temporaryFolder()}/uploads`;
  let names = 0;
  const uploads = openDirectoryUploads({
    folder,
    key: new Uint8Array(32),
    nowMs: () => clock.nowMs,
    newName: () => `n${++names}`,
  });
  const stored: string[] = [];
  const ended = new Set<string>();
  const reports: unknown[] = [];
  /** Thrown once a file is stored, if it is set. */
  const failing: { with: Error | null } = { with: null };
  const divert = createUploadServer({
    uploads,
    mayReceive: async (id) => !ended.has(id),
    onStored: async (id) => {
      if (failing.with !== null) throw failing.with;
      stored.push(id);
    },
    nowMs: () => clock.nowMs,
    report: (_what, cause) => reports.push(cause),
  });
  const edge = await startEdge({ divert, limits });
  onTestFinished(() => edge.close());
  const send = (url: string, init: RequestInit = {}) =>
    fetch(new URL(url, `http://127.0.0.1:${edge.port}`), { method: 'PUT', body: TEXT, ...init });
  const left = () => readdir(folder).catch(() => []);
  /** The size of all files, complete or not. */
  const keptBytes = async () => {
    const sizes = (await left()).map(async (name) => (await stat(`${folder}/${name}`)).size);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  };
  return {
    uploads,
    stored,
    ended,
    failing,
    reports,
    clock,
    edge,
    send,
    left,
    keptBytes,
    target: (await uploads.presign(ID, CONTENT)).url,
  };
}

const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];

/** The head of a PUT with the announced length. */
const put = (target: string, more = '') =>
  `PUT ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${CONTENT.bytes}\r\nConnection: close\r\n${more}\r\n`;

test('a file that is put to its target is stored and reported; a second PUT is answered 412 and reported again', async () => {
  const { uploads, stored, send, target } = await serving();
  const answer = await send(target);
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  expect(await codeOf(await send(target))).toEqual([412, 'precondition-failed']);
  expect(await uploads.head(ID)).toEqual({ bytes: CONTENT.bytes });
  expect(stored).toEqual([ID, ID]);
});

test.each<[string, string]>([
  ['is longer', `${TEXT} `],
  ['is shorter', TEXT.slice(1)],
  ['has another digest', TEXT.toUpperCase()],
  ['is empty', ''],
])('a file that %s is refused', async (_, body) => {
  const { stored, left, send, target } = await serving();
  expect(await codeOf(await send(target, { body }))).toEqual([422, 'validation-failed']);
  expect([stored, await left()]).toEqual([[], []]);
});

test.each<[string, string]>([
  ['in chunks', `Transfer-Encoding: chunked\r\n\r\n${CONTENT.bytes.toString(16)}\r\n${TEXT}\r\n0\r\n\r\n`],
  // The last chunk never comes.
  ['in chunks without an end', `Transfer-Encoding: chunked\r\n\r\n${CONTENT.bytes.toString(16)}\r\n${TEXT}\r\n`],
  ['after nothing but the head', '\r\n'],
])('a file without Content-Length is refused, as by S3: %s', async (_, rest) => {
  const { stored, left, edge, target } = await serving();
  const head = `PUT ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
  const reply = parseReply(await converse(edge, head + rest));
  expect([reply.status, JSON.parse(reply.body.toString()).code]).toEqual([400, 'invalid-request']);
  expect([stored, await left()]).toEqual([[], []]);
});

test('of a file whose sender has ended not a byte is waited for', async () => {
  const { ended, edge, target, left } = await serving();
  ended.add(ID);
  const reply = parseReply(await converse(edge, put(target)));
  expect([reply.status, JSON.parse(reply.body.toString()).code, await left()]).toEqual([403, 'forbidden', []]);
});

test('a file with another length is refused before its first byte', async () => {
  const { edge, target } = await serving();
  const head = put(target).replace(/Content-Length: \d+/, 'Content-Length: 5000000000');
  expect(parseReply(await converse(edge, head)).status).toBe(422);
});

test.each<[string, (target: string) => string, number]>([
  ['for another length', (target) => target.replace('bytes=', 'bytes=1'), 0],
  ['for another digest', (target) => target.replace(CONTENT.sha256, sha256Hex('')), 0],
  ['for another time', (target) => target.replace('expires=', 'expires=1'), 0],
  ['of another upload', (target) => target.replace(ID, `${ID.slice(0, -1)}B`), 0],
  ['without its signature', (target) => target.replace(/&signature=.*/, ''), 0],
  ['without all', (target) => target.replace(/\?.*/, ''), 0],
  ['expired', (target) => target, 60 * MINUTE_MS],
])('a target that is %s is forbidden, before the first byte of the file', async (_, altered, laterMs) => {
  const { stored, left, clock, edge, target } = await serving();
  clock.nowMs += laterMs;
  const reply = parseReply(await converse(edge, put(altered(target))));
  expect([reply.status, JSON.parse(reply.body.toString()).code]).toEqual([403, 'forbidden']);
  expect([stored, await left()]).toEqual([[], []]);
});

test.each<[string, (target: string) => string, RequestInit]>([
  ['another path', (target) => target.replace('/content', ''), {}],
  ['no id', (target) => target.replace(ID, 'upl_1'), {}],
  ['another method', (target) => target, { method: 'POST' }],
  ['no path', () => '//', {}],
])('%s is left to other handlers', async (_, other, init) => {
  const { edge, target } = await serving();
  const line = `${init.method ?? 'PUT'} ${other(target)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  expect(parseReply(await converse(edge, line)).status).toBe(405);
  expect(edge.reports).toEqual([]);
});

test('`Expect: 100-continue` is answered with 100 only for a valid target', async () => {
  const { edge, target } = await serving();
  const expecting = 'Expect: 100-continue\r\n';
  expect(await converse(edge, put(target, expecting) + TEXT)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 204 /);
  expect(await converse(edge, put(target.replace('bytes=', 'bytes=1'), expecting))).toMatch(/^HTTP\/1.1 403 /);
});

describe('a slow file', () => {
  const LIMITS = { requestTimeoutMs: 300, checkIntervalMs: 25, idleTimeoutMs: 1_500 };

  test('is stored, even if it takes longer than any other request may', async () => {
    const { stored, edge, target } = await serving(LIMITS);
    const client = await RawClient.open(edge);
    await client.send(put(target));
    for (let sent = 0; sent < TEXT.length; sent += 2) {
      await setTimeout(LIMITS.requestTimeoutMs / 3);
      await client.send(TEXT.slice(sent, sent + 2));
    }
    if (!client.socket.closed) await once(client.socket, 'close');
    expect([parseReply(client.text).status, stored]).toEqual([204, [ID]]);
  });

  test('is refused if it stops, and nothing is left', async () => {
    const { stored, left, reports, edge, send, target } = await serving(LIMITS);
    expect(await converse(edge, put(target) + TEXT.slice(1))).toBe('');
    while ((await left()).length > 0) await setImmediate();
    expect([stored, reports, edge.reports]).toEqual([[], [], []]);
    expect((await send(target)).status).toBe(204);
  });

  test.each<[string, number, number]>([
    ['is refused after a minute', MINUTE_MS + 1, 408],
    ['is accepted in the first minute', MINUTE_MS, 204],
  ])('below the least rate %s', async (_, elapsedMs, status) => {
    const { left, keptBytes, clock, edge, target } = await serving();
    const client = await RawClient.open(edge);
    await client.send(put(target) + TEXT.slice(0, 1));
    // Time counts from the first read of the body, after the file is created. So wait for the first byte.
    while ((await keptBytes()) === 0) await setImmediate();
    clock.nowMs += elapsedMs;
    await client.send(TEXT.slice(1));
    if (!client.socket.closed) await once(client.socket, 'close');
    expect(parseReply(client.text).status).toBe(status);
    expect(await left()).toEqual(status === 204 ? [ID] : []);
  });
});

describe('a file that cannot be stored', () => {
  test('because the disk is full is refused before its first byte, and reported to the operator', async () => {
    const { uploads, reports, edge, left } = await serving();
    const { url } = await uploads.presign(ID, { ...CONTENT, bytes: Number.MAX_SAFE_INTEGER });
    const head = put(url).replace(/Content-Length: \d+/, `Content-Length: ${Number.MAX_SAFE_INTEGER}`);
    const reply = parseReply(await converse(edge, head));
    expect([reply.status, JSON.parse(reply.body.toString()).code]).toEqual([503, 'service-unavailable']);
    expect(reply.headers['retry-after']).toBe('60');
    expect(reports).toEqual([expect.any(StorageUnavailable)]);
    expect(await left()).toEqual([]);
  });

  test('because the ledger does not answer can be put again, and is then reported', async () => {
    const { stored, failing, reports, send, target } = await serving();
    failing.with = new StorageUnavailable('for a while');
    expect(await codeOf(await send(target))).toEqual([503, 'service-unavailable']);
    expect(reports).toEqual([failing.with]);
    failing.with = null;
    expect((await send(target)).status).toBe(412);
    expect(stored).toEqual([ID]);
  });

  test('because of an internal fault is answered 500', async () => {
    const { failing, edge, send, target } = await serving();
    failing.with = new TypeError('a fault');
    expect(await codeOf(await send(target))).toEqual([500, 'internal-error']);
    expect(edge.reports).toEqual([failing.with]);
  });
});
