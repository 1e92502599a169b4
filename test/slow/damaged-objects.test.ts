/** A damaged object and a lost one, as the operator and the readers of a server see them. */
import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startServer } from '../server/server-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));

test('after a crash, both are public again, other markets are published meanwhile, and so it is while it runs', async () => {
  const temporary = await makeTemporaryFolder();
  const { folder } = temporary;
  const environment = { TIDEMARK_DATA: folder, TIDEMARK_VERIFY_HOURS: '0' };
  const fileOf = (slug: string) => join(folder, 'public/api/v1/markets', `${slug}.json`);
  const tidemark = (...words: readonly string[]) => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_CONFIG_HOME: folder, TIDEMARK_DATA: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words], { env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  let server = startServer(environment);
  try {
    let url = await server.started;
    const statusOf = async (slug: string) => (await fetch(`${url}/api/v1/markets/${slug}`)).status;
    await server.end('SIGKILL');
    await writeFile(fileOf('silver-usd'), 'garbage');
    await rm(fileOf('platinum-usd'));
    expect(tidemark('doctor').output).toMatch(/objects\t.*2 of \d+ files are damaged.*silver-usd/);

    server = startServer(environment);
    url = await server.started;
    const removed = tidemark('removals', 'create', 'gold-usd', '--reason', 'Over.', '--yes');
    expect(removed.status, removed.output).toBe(0);
    const all = async () => [await statusOf('gold-usd'), await statusOf('silver-usd'), await statusOf('platinum-usd')];
    await expect.poll(all, { timeout: 60_000, interval: 500 }).toEqual([410, 200, 200]);
    expect(server.errors()).toContain('everything is published again: ');
    expect(server.errors()).not.toContain('not everything');

    const good = await readFile(fileOf('palladium-usd'));
    for (const spoil of [(file: string) => writeFile(file, 'garbage'), (file: string) => rm(file)]) {
      await spoil(fileOf('palladium-usd'));
      // For up to 15 seconds, the cache answers. The first read after that finds the damage.
      const fileAfterRead = async () => {
        expect([503, 200]).toContain(await statusOf('palladium-usd'));
        return readFile(fileOf('palladium-usd')).catch(() => undefined);
      };
      await expect.poll(fileAfterRead, { timeout: 60_000, interval: 500 }).toEqual(good);
    }
    await expect.poll(() => tidemark('doctor').output, { timeout: 30_000 }).toMatch(/^ok\tobjects\t/m);
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: 'ok' });
  } finally {
    await server.end('SIGKILL');
    await temporary.remove();
  }
}, 180_000);
