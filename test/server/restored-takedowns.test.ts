/** After `tidemark restore`, no text is public again that was taken down since; other removed markets are named. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { senderTo } from './sender.ts';
import { startServerForTest } from './server-process.ts';

const TEXT = 'A name that a court forbids';
const SLUGS = ['forbidden', 'mistaken', 'substitute', 'kept'];

/** The files of the log that show the text. */
async function filesWithText(data: string): Promise<readonly string[]> {
  const folder = join(data, 'public/api/v1/log');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = files.map(async (path) => {
    const body = await readFile(path);
    return [path, (path.endsWith('.gz') ? gunzipSync(body) : body).toString()] as const;
  });
  return (await Promise.all(texts)).filter(([, text]) => text.includes(TEXT)).map(([path]) => path);
}

test('a takedown is done again with its removal, and a market without a takedown is named', async () => {
  const data = join(await temporaryFolder(), 'data');
  const dir = join(await temporaryFolder(), 'backups');
  const environment = { TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'log' };
  const first = startServerForTest(environment);
  const url = await first.started;
  const operator = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
  const send = senderTo(`${url}/api/v1`, operator);
  const ingest = async (slugs: readonly string[]) => {
    const records = slugs.flatMap((slug) => [
      { ...market(slug), name: slug === 'forbidden' ? TEXT : slug },
      price(slug, 0, 5),
    ]);
    expect((await send('POST', '/ingest/batches', { records })).status).toBe(202);
    await expect.poll(async () => (await fetch(`${url}/api/v1/markets/${slugs.at(-1)}`)).status).toBe(200);
  };
  await ingest(SLUGS);
  expect(await tidemark(['backup', dir, '--data', data])).toMatchObject({ code: 0 });
  await ingest(['younger']);
  const remove = (slug: string, replacedBy: string | null) =>
    send('POST', `/markets/${slug}/removal`, { reason: 'It was wrong.', replacedBy });
  expect((await remove('forbidden', 'younger')).status).toBe(200);
  expect((await remove('mistaken', null)).status).toBe(200);
  expect(await filesWithText(data)).not.toEqual([]);
  const takenDown = async (from: string) => {
    const { json } = await senderTo(`${from}/api/v1`, operator)('GET', '/takedowns');
    return json.data.map((each: { readonly state: string; readonly reason: string }) => [each.state, each.reason]);
  };
  expect((await send('POST', '/takedowns', { market: 'forbidden', reason: 'An order.' })).status).toBe(202);
  await expect.poll(() => takenDown(url), { timeout: 20_000 }).toEqual([['done', 'An order.']]);
  await first.end('SIGTERM');

  const { code, output, errors } = await tidemark(['restore', dir, '--data', data, '--replace']);
  expect(code, errors).toBe(0);
  expect(output).toContain('takedowns\t1, done again by the next start');
  expect(errors).toContain('Removed after this backup, and public again with the next start: mistaken.');
  const second = startServerForTest(environment);
  const again = await second.started;
  await expect.poll(() => takenDown(again), { timeout: 20_000 }).toEqual([['done', 'An order.']]);
  const answer = await fetch(`${again}/api/v1/markets/forbidden`);
  expect([answer.status, await answer.json()]).toMatchObject([410, { reason: 'It was wrong.', replacedBy: null }]);
  expect((await fetch(`${again}/api/v1/markets/mistaken`)).status).toBe(200);
  expect(await filesWithText(data)).toEqual([]);
  expect(await tidemark(['verify', '--log', again])).toMatchObject({ code: 0 });
  await second.end('SIGTERM');
  expect(await tidemark(['verify-audit', '--data', data])).toMatchObject({ code: 0 });
}, 120_000);
