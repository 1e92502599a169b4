/**
 * Commands that take long tell a rate and the remaining time, also on a pipe. They run in this process, because time
 * passes as these tests say: with each read of the service or of the clock.
 */
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createProgram } from '../../cli/program/program.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { ingest } from '../ingest/ingest.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { type ServedReader, serveReader } from '../publisher/verify/serve-reader.ts';
import { dependenciesOn, market, price, START_MS } from '../publisher/world.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const MARKETS = Array.from({ length: 60 }, (_, index) => `m${index}`);
/** The log has several tiles: the first one tells no rate. */
const DAYS = 20;
/** Of each read of the service, and of each look at the clock. */
const TAKES_MS = 4_000;

const temporary = folderForAll();
let folder: Awaited<ReturnType<typeof openDataFolder>>;
let served: ServedReader;
let url: string;
let errors: string;
/** So much more time has passed than really did. */
let aheadMs = 0;

beforeAll(async () => {
  folder = await openDataFolder(join(temporary.folder, 'data'));
  const dependencies = dependenciesOn(folder.ledger, folder.objects, { nowMs: START_MS }, DEFAULT_PAGE_SIZES);
  const prices = MARKETS.flatMap((slug) => Array.from({ length: DAYS }, (_, day) => price(slug, day, 5)));
  await ingest(dependencies, [...MARKETS.map((slug) => market(slug)), ...prices], {});
  await publish(withLog(dependencies));
  const reader = loggedReader(folder.objects);
  served = await serveReader(async (...asked) => {
    aheadMs += TAKES_MS;
    return await reader(...asked);
  });
  ({ url } = served);
  return () => {
    served.close();
    folder.close();
  };
});

beforeEach(() => {
  [aheadMs, errors] = [0, ''];
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    errors += String(chunk);
    return true;
  });
  const [now, clock] = [performance.now(), systemRuntime.nowMs()];
  vi.spyOn(performance, 'now').mockImplementation(() => {
    aheadMs += TAKES_MS;
    return now + aheadMs;
  });
  vi.spyOn(systemRuntime, 'nowMs').mockImplementation(() => clock + aheadMs);
});

afterEach(() => {
  process.exitCode = 0;
});

const run = async (...words: readonly string[]) =>
  await (await createProgram(words)).parseAsync([...words, '--config', join(temporary.folder, 'config.json')], {
    from: 'user',
  });

test.each<[string, string, readonly string[]]>([
  ['Checking the markets', 'markets', ['verify', 'URL']],
  ['Reading the log', 'entries', ['verify', 'URL', '--log']],
  ['Comparing the markets with the log', 'markets', ['verify', 'URL', '--log']],
  ['Reading the objects', 'files', ['doctor', '--data', 'FOLDER/data']],
  ['.* copying progress="Reading the markets', 'markets', ['mirror', 'URL', 'FOLDER/mirror', '--once']],
])('%s, in %s', async (step, unit, words) => {
  await run(...words.map((word) => word.replace('URL', url).replace('FOLDER', temporary.folder)));
  expect(errors).toMatch(new RegExp(`^${step} +\\d+ %, [\\d,]+ ${unit}, [\\d.]+/s, [\\d.]+ (s|min|h) left"?$`, 'm'));
  // Several files of a market are read, and it counts once.
  const counts = [...errors.matchAll(/(\d+) markets/g)].map(([, count]) => Number(count));
  if (words[0] === 'verify') expect(Math.max(...counts)).toBe(MARKETS.length);
});
