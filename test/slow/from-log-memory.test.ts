/** `tidemark restore --from-log` with a long log, in its own process: the memory is that of its texts, compressed. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { privateNoteKey } from '../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { finished, spawnTidemark } from '../cli/tidemark.ts';
import { LOG_ORIGIN, withLog } from '../publisher/log/test-log.ts';
import { createWorld, dependenciesOn, market, price, START_MS } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { peakBytesOf } from './peak-memory.ts';

const BYTES_MAX = 400 * 1024 * 1024;
const MARKETS = 100;
const DAYS = 1_000;

/** A folder that has published 100 markets with 1,000 values each. */
async function publishedFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'data');
  const { ledger, objects, close } = await openDataFolder(folder);
  const dependencies = withLog(dependenciesOn(ledger, objects, { nowMs: START_MS }, DEFAULT_PAGE_SIZES));
  const world = createWorld(DEFAULT_PAGE_SIZES, ledger);
  for (let number = 0; number < MARKETS; number++) {
    const slug = `market-${number}`;
    await world.ingest([market(slug)]);
    await world.ingest(Array.from({ length: DAYS }, (_, day) => price(slug, day - DAYS, 100 + day)));
  }
  while ((await publish(dependencies)).isMoreDue);
  close();
  return folder;
}

test.runIf(process.platform === 'linux')('a log of 100,000 entries takes less than 400 MB', async () => {
  const source = await publishedFolder();
  const data = join(await temporaryFolder(), 'data');
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, 'log-key'), privateNoteKey(LOG_ORIGIN, Buffer.alloc(32, 1)), { mode: 0o600 });
  const words = ['restore', '--from-log', join(source, 'public'), '--data', data, '--json'];
  const child = spawnTidemark(words);
  const [{ code, output }, peak] = await Promise.all([finished(child), peakBytesOf(child)]);
  expect(code).toBe(0);
  expect(JSON.parse(output)).toMatchObject({ markets: MARKETS, observations: MARKETS * DAYS });
  expect(peak).toBeGreaterThan(20 * 1024 * 1024);
  expect(peak).toBeLessThan(BYTES_MAX);
});
