/** A disk that is unmounted while the server runs: what it held is not gone, it only cannot be read. */
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';
import { startServer } from './server-process.ts';
import { copySample } from './taken-in-sample.ts';

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
