/** A disk that is unmounted while the server runs: what it held is not gone, it only cannot be read. */
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { publicKey } from '../../contract/files/public-objects.ts';
import { createObjectCache } from '../../server/edge/cache.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { bytes, metadataOf } from '../storage/object-store-contract.ts';
import { makeTemporaryFolder, temporaryFolder } from '../storage/temporary-folder.ts';
import { startServer } from './server-process.ts';
import { copySample } from './taken-in-sample.ts';

const KEY = publicKey({ kind: 'snapshot' });

describe('a vanished folder of objects', () => {
  test('a good copy is served stale, then 503 follows, and the copy that comes back is served', async () => {
    const folder = await temporaryFolder();
    const store = await openDirectoryObjects(join(folder, 'store'));
    await store.put(KEY, bytes('body'), metadataOf(1), { kind: 'absent' });
    let nowMs = 1;
    const cache = createObjectCache({
      objects: store,
      nowMs: () => nowMs,
      view: (_, { body }) => Buffer.from(body).toString(),
      sizeOf: () => 1,
      maxBytes: 1_000_000,
      deadlineMs: 1_000,
      report: () => {},
    });
    expect(await cache.read(KEY)).toMatchObject({ kind: 'found' });
    await rename(join(folder, 'store'), join(folder, 'away'));
    const seen: string[] = [];
    for (nowMs = 16_001; nowMs <= 322_001; nowMs += 6_000) {
      const answer = await cache.read(KEY);
      seen.push(answer.kind === 'found' && answer.provenance === 'stale-if-error' ? 'stale' : answer.kind);
    }
    expect([...new Set(seen)]).toEqual(['stale', 'unavailable']);
    expect(seen.filter((kind) => kind === 'stale')).toHaveLength(50);
    expect(await cache.read('public/unknown.json')).toMatchObject({ kind: 'unavailable' });
    await rename(join(folder, 'away'), join(folder, 'store'));
    nowMs += 5_000;
    expect(await cache.read(KEY)).toMatchObject({ kind: 'found', view: 'body' });
  });
});

describe('a running server', () => {
  let data: string;
  let baseUrl: string;
  let errors: () => string;

  beforeAll(async () => {
    const { folder, remove } = await makeTemporaryFolder();
    data = folder;
    await copySample(data);
    const server = startServer({ TIDEMARK_DATA: data });
    errors = server.errors;
    baseUrl = await server.started;
    return async () => {
      await server.end('SIGKILL');
      await remove();
    };
  }, 60_000);

  async function health(): Promise<{ status: number; body: { faults?: { part: string }[] } }> {
    const response = await fetch(`${baseUrl}/healthz`);
    return { status: response.status, body: (await response.json()) as never };
  }
  const faults = async () => (await health()).body.faults?.map(({ part }) => part);
  const statusOf = async (path: string) => (await fetch(baseUrl + path)).status;

  test('says how it is', async () => {
    expect(await health()).toMatchObject({
      status: 200,
      body: { status: 'ok', generation: 1, marksDue: 0, deferred: 0, queue: 0, publishLagSeconds: expect.any(Number) },
    });
  });

  test.each([
    ['unmounted', 'silver-usd', async () => undefined],
    ['unmounted, so that an empty mount point shows', 'platinum-usd', (folder: string) => mkdir(folder)],
  ])(
    '%s: no 404, what is in memory is served, and the health check notices until it is back',
    async (_, unread, then) => {
      const [folder, away] = [join(data, 'public'), join(data, 'away')];
      expect(await statusOf('/api/v1/markets/gold-usd')).toBe(200);
      await rename(folder, away);
      await then(folder);
      expect(await statusOf('/api/v1/markets/gold-usd')).toBe(200);
      expect(await statusOf(`/api/v1/markets/${unread}`)).toBe(503);
      expect(await statusOf('/api/v1/markets/no-such-market')).toBe(503);
      await expect.poll(faults).toEqual(['objects']);
      expect((await health()).status).toBe(503);
      await rename(away, folder);
      await expect.poll(async () => (await health()).status).toBe(200);
      await expect.poll(() => statusOf(`/api/v1/markets/${unread}`)).toBe(200);
    },
    30_000,
  );

  test('a ledger that was moved away: the health check notices, because commits would be lost', async () => {
    const [file, away] = [join(data, 'ledger.sqlite'), join(data, 'ledger-away')];
    await rename(file, away);
    await expect.poll(faults).toEqual(['ledger']);
    expect(errors()).toContain('was removed or replaced');
    await rename(away, file);
    await expect.poll(async () => (await health()).status).toBe(200);
  }, 30_000);
});
