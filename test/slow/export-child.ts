/**
 * Exports a log with the number of observations that is given, from the folder of a small published deployment, and again on
 * the next day, when one observation of each part has been corrected, so that all parts are read back. Prints what it took,
 * as JSON. The entries are those of a real log, with other moments and ids: they are made as they are read.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readEntries } from '../../publisher/core/log/log-chunks.ts';
import { makeExport } from '../../publisher/projections/exports/make-export.ts';
import { createTurns, yieldingLedger } from '../../server/service/yielding-ledger.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { created } from '../../storage/ports/changes.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { DEPLOYMENT, LOG } from '../../tools/bench/aws/deployment.ts';
import { residentBytes } from '../../tools/bench/processor-time.ts';
import { SettableClock } from '../../tools/bench/publish-due.ts';
import { quantile } from '../../tools/bench/rounds.ts';
import { dependenciesOn } from '../../tools/bench/synthetic-ledger.ts';

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const stretches: number[] = [];
let before = cpuMs();
setInterval(() => {
  const now = cpuMs();
  stretches.push(now - before);
  before = now;
}, 1).unref();

const PART_ENTRIES = 65_536;
const HOUR_MS = 3_600_000;
const FIRST_MS = Date.UTC(1990, 0, 1);

const [folder, given] = process.argv.slice(2);
if (folder === undefined || given === undefined) throw new RangeError('give a folder and a number of observations');
const observations = Number(given);
const turns = createTurns();
const sqlite = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
const ledger = yieldingLedger(sqlite, turns);
const objects = await openDirectoryObjects(folder);
const clock = new SettableClock(Date.now);
const storage = { ...dependenciesOn(ledger), nowMs: clock.nowMs, objects, ...DEPLOYMENT, log: LOG };

const head = (await ledger.get(HEAD_KEY))?.value;
const real = head?.log?.size ?? 0;
const texts: string[] = [];
for (let tile = 0; tile * 256 < real; tile++) {
  texts.push(...(await readEntries(ledger, tile, Math.min(256, real - tile * 256))));
}
type Entry = { readonly type: string; readonly id: string; readonly supersedes: string | null };
const templates = texts.map((text) => JSON.parse(text) as Entry).filter(({ type }) => type === 'observation');

const idOf = (index: number) => `obs_${createHash('sha256').update(String(index)).digest('hex').slice(0, 26)}`;
/** As a feed brings them: all markets in turn. */
function entryAt(index: number, supersedes: string | null = null): string {
  const observedAt = new Date(FIRST_MS + Math.floor(index / templates.length) * HOUR_MS).toISOString();
  return JSON.stringify({ ...templates[index % templates.length], id: idOf(index), observedAt, supersedes });
}
/** Of the next day: one of each part is corrected. */
function correctionAt(place: number): string {
  const corrected = Math.max(real, place * PART_ENTRIES);
  const id = idOf(observations + place);
  return JSON.stringify({ ...(JSON.parse(entryAt(corrected)) as Entry), id, supersedes: idOf(corrected) });
}

async function tileOf(tile: number, width: number): Promise<readonly string[]> {
  return Array.from({ length: width }, (_, place) => {
    const index = tile * 256 + place;
    return index < real
      ? (texts[index] as string)
      : index < observations
        ? entryAt(index)
        : correctionAt(index - observations);
  });
}

async function exportDay(size: number): Promise<void> {
  const item = await ledger.get(HEAD_KEY);
  if (item === null || item.value.log === undefined) throw new Error('nothing is published');
  const value = { ...item.value, log: { ...item.value.log, size } };
  const change = { ...created(HEAD_KEY, value), if: { kind: 'any' } } as Change;
  await ledger.transact([change], { attemptId: storage.newAttemptId() });
  const { kind } = await makeExport({
    storage,
    readEntries: tileOf,
    yieldToEventLoop: async () => (turns.isDue() ? await turns.next() : undefined),
  });
  if (kind !== 'made') throw new Error(`the export is ${kind}`);
}

await exportDay(observations);
clock.forwardTo(clock.nowMs() + 24 * HOUR_MS);
await exportDay(observations + Math.ceil(observations / PART_ENTRIES));
sqlite.close();
// In processor time of the thread: stretches in which no request would be answered.
const [p99CpuMs, longestCpuMs] = [quantile(stretches, 0.99), quantile(stretches, 1)];
console.log(JSON.stringify({ p99CpuMs, longestCpuMs, maxRssBytes: residentBytes(process.pid).most }));
