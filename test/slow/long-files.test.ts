/**
 * The files of a long history: four and a half years, 41,000 hourly observations of one market. Rows are kept of the open year alone, so
 * memory does not grow with the years: measured with the limit of docs/self-hosting.md, because V8 otherwise lets
 * garbage lie as long as the machine has room, and longer when it is busy.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { BATCH_RECORDS_MAX } from '../../contract/ingest/ingest-records.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { changedStore } from '../../storage/ports/changed-store.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { DEPLOYMENT } from '../../tools/bench/aws/deployment.ts';
import type { PublishReport } from '../../tools/bench/publish-child.ts';
import { publishDue, SettableClock } from '../../tools/bench/publish-due.ts';
import { dependenciesOn, ingest } from '../../tools/bench/synthetic-ledger.ts';
import { readSample, syntheticMarket } from '../../tools/bench/synthetic-markets.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const CHILD = join(import.meta.dirname, '../../tools/bench/publish-child.ts');
const OBSERVATIONS = 41_000;
const HOUR_MS = 60 * 60 * 1000;
const BYTES_MAX = 400e6;
const HEAP_LIMIT = '--max-old-space-size=256';
/** Ends a run that hangs. Not a limit on speed. */
const RUN_LIMIT_MS = 600_000;

test.runIf(process.platform === 'linux')(
  'are written in less than 400 MB, and an append puts those of the open year alone',
  async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'ledger.sqlite');
    const filled = openSqliteLedger(path, { exclusive: true });
    const { market, observations } = syntheticMarket(await readSample(), 0);
    const [observation] = observations as [(typeof observations)[number]];
    const atHour = (hour: number) => {
      return { ...observation, observedAt: new Date(Date.UTC(2015, 0, 1) + hour * HOUR_MS).toISOString() };
    };
    const records = [market, ...Array.from({ length: OBSERVATIONS }, (_, hour) => atHour(hour))];
    while (records.length > 0) await ingest(filled, records.splice(0, BATCH_RECORDS_MAX));
    filled.close();
    const { stdout } = await promisify(execFile)(process.execPath, [HEAP_LIMIT, CHILD, path, 'history-files']);
    const { maxRssBytes } = JSON.parse(stdout) as PublishReport;
    console.info(`${Math.round(maxRssBytes / 1e6)} MB`);
    expect(maxRssBytes).toBeLessThan(BYTES_MAX);

    const ledger = openSqliteLedger(path, { exclusive: true });
    const objects = await openDirectoryObjects(folder);
    await ingest(ledger, [atHour(OBSERVATIONS)]);
    const clock = new SettableClock(Date.now);
    const put: string[] = [];
    const watched = changedStore(objects, {
      put: (key, ...rest) => {
        put.push(key);
        return objects.put(key, ...rest);
      },
    });
    const projections = new Set(['history-files'] as const);
    await publishDue(
      { ...dependenciesOn(ledger), nowMs: clock.nowMs, objects: watched, ...DEPLOYMENT, projections },
      clock,
    );
    ledger.close();
    const files = put.filter((key) => key.includes(`/markets/${market.slug}/history`));
    expect(files.map((key) => key.slice(key.indexOf('history'))).sort()).toEqual([
      'history.json',
      'history/2019.csv',
      'history/2019.ndjson',
    ]);
  },
  RUN_LIMIT_MS,
);
