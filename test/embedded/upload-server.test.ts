/** Large files over the embedded server's port, as a client puts them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createUploadServer } from '../../embedded/upload-server.ts';
import { openDirectoryUploads } from '../../storage/directory-uploads.ts';
import { sha256Hex } from '../../storage/records.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const ID = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const TEXT = '{"type":"market"}\n';
const CONTENT = { bytes: Buffer.byteLength(TEXT), sha256: sha256Hex(TEXT) };

async function serving() {
  let names = 0;
  const uploads = openDirectoryUploads({
    folder: await temporaryFolder(),
    key: new Uint8Array(32),
    nowMs: Date.now,
    newName: () => `n${++names}`,
  });
  const stored: string[] = [];
  const divert = createUploadServer({ uploads, onStored: async (id) => void stored.push(id) });
  const server = createServer(async (request, response) => {
    const serve = divert(request);
    if (serve === null) response.writeHead(418).end();
    else await serve(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = (url: string, init: RequestInit = {}) =>
    fetch(new URL(url, base), { method: 'PUT', body: TEXT, ...init });
  return { uploads, stored, send, target: (await uploads.presign(ID, CONTENT)).url };
}

test('a file that is put at its target is there, and told of, each time', async () => {
  const { uploads, stored, send, target } = await serving();
  for (let times = 0; times < 2; times++) {
    const answer = await send(target);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
  }
  expect(await uploads.head(ID)).toEqual({ bytes: CONTENT.bytes });
  expect(stored).toEqual([ID, ID]);
});

test('another file is refused', async () => {
  const { stored, send, target } = await serving();
  const answer = await send(target, { body: `${TEXT} ` });
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([422, 'validation-failed']);
  expect(stored).toEqual([]);
});

test('a target that was altered is forbidden', async () => {
  const { stored, send, target } = await serving();
  const answer = await send(target.replace('bytes=', 'bytes=1'));
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, 'forbidden']);
  expect(stored).toEqual([]);
});

test.each<[string, (target: string) => string, RequestInit]>([
  ['another path', (target) => target.replace('/content', ''), {}],
  ['no id', (target) => target.replace(ID, 'upl_1'), {}],
  ['another method', (target) => target, { method: 'POST' }],
])('%s is for others to answer', async (_, other, init) => {
  const { send, target } = await serving();
  expect((await send(other(target), init)).status).toBe(418);
});
