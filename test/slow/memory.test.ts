/**
 * The memory of long work, each in a process of its own: it does not grow with the file, the history or the log. Where a test
 * gives a limit to the heap, V8 would otherwise let garbage lie as long as the machine has room.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import { privateNoteKey } from '../../contract/log/notes.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { DEPLOYMENT, LOG } from '../../tools/bench/aws/deployment.ts';
import { publishDue, SettableClock } from '../../tools/bench/publish-due.ts';
import { dependenciesOn as benchDependenciesOn, fillLedger, ingest } from '../../tools/bench/synthetic-ledger.ts';
import { readSample, syntheticMarket } from '../../tools/bench/synthetic-markets.ts';
import { json, type SeenRequest, stubServer } from '../cli/stub-server.ts';
import { finished, spawnTidemark } from '../cli/tidemark.ts';
import { LOG_ORIGIN, withLog } from '../publisher/log/test-log.ts';
import { createWorld, dependenciesOn, market, price, START_MS } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { fileOf, MAPPING } from './many-rows.ts';

const HOUR_MS = 60 * 60 * 1000;
/** Ends a run that hangs. Not a limit on speed. */
const LIMIT = { timeout: 600_000 };

/** Runs a program of this project, and gives what it prints: the most memory that it had, and more. */
async function run(heapMegabytes: number, program: string, ...words: readonly string[]) {
  const path = join(import.meta.dirname, program);
  const args = [`--max-old-space-size=${heapMegabytes}`, path, ...words];
  const report = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
  console.info(`${program} ${words[0]}: ${Math.round(report.maxRssBytes / 1e6)} MB`);
  return report;
}

/** Runs the command, and gives its end and the most bytes that it has had at once: Linux keeps this number as long as it lives. */
async function runCommand(words: readonly string[], environment = {}) {
  const child = spawnTidemark(words, { environment });
  const ended = finished(child);
  let peakBytes = 0;
  while (child.exitCode === null) {
    // It may end in between.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakBytes = Math.max(peakBytes, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024);
    await setTimeout(50);
  }
  console.info(`${words[0]}: ${Math.round(peakBytes / 1e6)} MB`);
  expect(peakBytes).toBeGreaterThan(20e6);
  return { ...(await ended), peakBytes };
}

describe.skipIf(process.platform !== 'linux')('the memory', LIMIT, () => {
  /** A heap in which the rows of the file would not fit. With all that is beside the heap: 240 MB on a quiet machine. */
  test.each(['begin', 'check'])('of a mapping that is to %s 400,000 rows is less than 450 MB', async (step) => {
    const { rows, maxRssBytes } = await run(64, 'many-rows.ts', step);
    expect(step === 'check' ? rows : Math.round(rows / 10_000)).toBe(step === 'check' ? 400_000 : 4);
    expect(maxRssBytes).toBeLessThan(450e6);
  });

  test('of `tidemark ingest` of 200,000 rows is less than 350 MB', async () => {
    const ROWS = 200_000;
    const folder = await temporaryFolder();
    const [path, mapping] = [join(folder, 'large.csv'), join(folder, 'mapping.json')];
    await writeFile(path, Readable.from(fileOf(ROWS)));
    writeFileSync(mapping, JSON.stringify(MAPPING));
    let announced = { records: 0, bytes: 0 };
    let isPut = false;
    // Takes everything in at once, as fast as it comes.
    const answer = ({ method, body }: SeenRequest) => {
      isPut ||= method === 'PUT';
      if (method === 'POST') announced = JSON.parse(body);
      const { records, bytes } = announced;
      const put = isPut ? null : { url: '/put', headers: { 'content-length': String(bytes) } };
      const counts = { accepted: records, unchanged: 0, refused: 0 };
      const report = { state: 'applied', records, counts, finishedAt: '2026-11-01T00:00:00Z', generation: 2 };
      return json({ ...report, id: 'upl_1', put, done: { records }, refusedIn: [] }, method === 'POST' ? 201 : 200);
    };
    const { url } = await stubServer((request, response) => answer(request)(request, response));
    const words = ['ingest', path, '--mapping', mapping, '--partial', '--url', url, '--json'];
    const { code, output, errors, peakBytes } = await runCommand(words, { TIDEMARK_KEY: 'key' });
    expect([code, errors]).toEqual([0, expect.stringContaining('--resume')]);
    expect(JSON.parse(output)).toMatchObject([{ accepted: announced.records, refused: 0 }]);
    expect(announced.records).toBeGreaterThan(ROWS);
    expect(peakBytes).toBeLessThan(350e6);
  });

  test('of `tidemark restore --from-log` with a log of 100,000 entries is less than 400 MiB', async () => {
    const [MARKETS, DAYS] = [100, 1_000];
    const source = join(await temporaryFolder(), 'data');
    const { ledger, objects, close } = await openDataFolder(source);
    const world = createWorld(DEFAULT_PAGE_SIZES, ledger);
    for (let number = 0; number < MARKETS; number++) {
      const slug = `market-${number}`;
      await world.ingest([market(slug)]);
      await world.ingest(Array.from({ length: DAYS }, (_, day) => price(slug, day - DAYS, 100 + day)));
    }
    const dependencies = withLog(dependenciesOn(ledger, objects, { nowMs: START_MS }, DEFAULT_PAGE_SIZES));
    while ((await publish(dependencies)).isMoreDue);
    close();
    const data = join(await temporaryFolder(), 'data');
    await mkdir(data, { mode: 0o700 });
    await writeFile(join(data, 'log-key'), privateNoteKey(LOG_ORIGIN, Buffer.alloc(32, 1)), { mode: 0o600 });
    const words = ['restore', '--from-log', join(source, 'public'), '--data', data, '--json'];
    const { code, output, peakBytes } = await runCommand(words);
    expect([code, JSON.parse(output)]).toMatchObject([0, { markets: MARKETS, observations: MARKETS * DAYS }]);
    expect(peakBytes).toBeLessThan(400 * 2 ** 20);
  });

  test('of the files of a history of four and a half years of hours is less than 400 MB', async () => {
    const path = join(await temporaryFolder(), 'ledger.sqlite');
    const filled = openSqliteLedger(path, { exclusive: true });
    const { market: defined, observations } = syntheticMarket(await readSample(), 0);
    const hours = Array.from({ length: 41_000 }, (_, hour) => {
      return {
        ...(observations[0] as object),
        observedAt: new Date(Date.UTC(2015, 0, 1) + hour * HOUR_MS).toISOString(),
      };
    });
    const records = [defined, ...hours] as (typeof defined)[];
    while (records.length > 0) await ingest(filled, records.splice(0, BATCH_RECORDS_MAX));
    filled.close();
    // The heap of docs/self-hosting.md.
    const { maxRssBytes } = await run(256, '../../tools/bench/publish-child.ts', path, 'history-files');
    expect(maxRssBytes).toBeLessThan(400e6);
  });

  // Parts are made one after the other; so two parts and the beginning of a third have the bound of a million observations.
  test('of an export, and of one that changes all its parts, is less than 500 MB, and requests can run', async () => {
    const folder = await temporaryFolder();
    const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
    const objects = await openDirectoryObjects(folder);
    const clock = new SettableClock(Date.now);
    await fillLedger(ledger, 200);
    const publisher = { ...benchDependenciesOn(ledger), nowMs: clock.nowMs, objects, ...DEPLOYMENT, log: LOG };
    await publishDue({ ...publisher, projections: new Set(['log'] as const) }, clock);
    ledger.close();
    const { maxRssBytes, longestCpuMs, p99CpuMs } = await run(4_096, 'export-child.ts', folder, '140000');
    // Of the 500 MB that are promised, some are for a machine that tidies its memory later.
    expect(maxRssBytes).toBeLessThan(475e6);
    // Processor time of the event loop's thread, tidying of memory included. A part at once would take seconds; the bounds leave room
    // for slow processors.
    expect(longestCpuMs).toBeLessThan(400);
    expect(p99CpuMs).toBeLessThan(100);
  });
});
