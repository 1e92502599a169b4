/** A disk that is unmounted while the server runs: what it held is not gone, it only cannot be read. */
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sampleServerForAll } from './sample-server.ts';
import { senderTo } from './sender.ts';

describe('a running server', () => {
  const server = sampleServerForAll();
  let data: string;
  let baseUrl: string;
  beforeAll(() => {
    ({ data, url: baseUrl } = server);
  });

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

  test('a ledger that was moved away: no write is acknowledged, because it would be lost', async () => {
    const [file, away] = [join(data, 'ledger.sqlite'), join(data, 'ledger-away')];
    const send = senderTo(`${baseUrl}/api/v1`, (await readFile(join(data, 'operator-key'), 'utf8')).trim());
    const write = async () => (await send('POST', '/watchlists', { name: 'Metals', markets: [] })).status;
    await rename(file, away);
    expect(await write()).toBe(503);
    await expect.poll(faults).toEqual(['ledger']);
    expect(server.process.errors()).toContain('was removed or replaced');
    await rename(away, file);
    await expect.poll(async () => (await health()).status).toBe(200);
    expect(await write()).toBe(201);
  }, 30_000);
});
