/** A wall clock that jumps while the service runs. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { historyUrl } from '../../contract/files/routes.ts';
import { ndjsonPath, TILE_WIDTH } from '../../contract/log/tiles.ts';
import { openConnection } from './exchange.ts';
import { runWithFaults } from './faulted-run.ts';
import { type Load, waitUntil } from './load.ts';
import { healthOf, ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

const PRELOADED = join(import.meta.dirname, 'shifted-clock.ts');
const LOG_URL = '/api/v1/log';
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
interface Jump {
  readonly name: string;
  readonly aheadMs: number;
  /** Whether the change must come through the cache, which takes 15 s. Others are read past it. */
  readonly isCacheAwaited: boolean;
}

/** Each from the true time, so that the jump back is one, too. */
const JUMPS: readonly Jump[] = [
  { name: 'an hour back', aheadMs: -HOUR_MS, isCacheAwaited: false },
  { name: 'an hour ahead', aheadMs: HOUR_MS, isCacheAwaited: false },
  { name: 'ten years back', aheadMs: -10 * YEAR_MS, isCacheAwaited: true },
  { name: 'a day ahead', aheadMs: DAY_MS, isCacheAwaited: false },
];
/** A cache serves a body for 15 s; no jump may make that longer. */
const SHOWN_WITHIN_MS = 25_000;
const MENDED_WITHIN_MS = 75_000;

export const clockScenario: Scenario = {
  name: 'clock',
  does: `sets the wall clock of the running service: ${JUMPS.map(({ name }) => name).join(', ')}, each time from and back to the true time`,
  holds: [
    'Published URLs are read as before.',
    'A change is public within 25 s by the true clock: no cache keeps a body for ever, and none refuses for ever.',
    'Writes are acknowledged, and none of their ids comes twice.',
    'In each history, `recordedAt` never goes backwards.',
    'Nothing acknowledged is lost, and `verify` passes.',
  ],
  times: 1,
  async run(trial) {
    const clock = join(trial.folder, 'clock');
    const setAhead = (ms: number) => {
      // In one step: a reader of the file finds one number or the other.
      writeFileSync(`${clock}-new`, String(ms));
      renameSync(`${clock}-new`, clock);
    };
    setAhead(0);
    const service = createService({
      dataFolder: `${trial.folder}/data`,
      nodeOptions: ['--import', PRELOADED],
      environment: { ...ORACLE_IS_PROXY, TORTURE_CLOCK: clock },
    });
    await runWithFaults({
      trial,
      service,
      load: { writePauseMs: 700 },
      // Keys are kept for three days: those of ten years ago have expired when the clock is right again.
      isReplayed: false,
      async fault(load) {
        for (const jump of JUMPS) {
          for (const ms of [jump.aheadMs, 0]) {
            setAhead(ms);
            trial.count('jumps');
            await staysAlive(trial, service, load, jump);
          }
        }
        await checkTimes(trial, service, load);
      },
    });
  },
};

/** A change that is written now is seen by a reader who asks the cache. */
async function staysAlive(trial: Trial, service: ServiceProcess, { account }: Load, jump: Jump): Promise<void> {
  const headers: Readonly<Record<string, string>> = jump.isCacheAwaited ? {} : { 'cache-control': 'no-cache' };
  const when = `after a jump of the clock, ${jump.name} or from there`;
  await sleep(500);
  const readBefore = trial.counted('reads answered');
  const acknowledged = trial.counted('writes acknowledged');
  const connection = openConnection(service.port);
  const before = account.rows.length;
  let isShown = false;
  try {
    isShown = await waitUntil(async () => {
      const newer = account.rows.slice(before).filter(({ standing }) => standing === 'acknowledged');
      for (const { rows } of newer) {
        const [row] = rows;
        if (row === undefined || account.removed.has(row.market)) continue;
        const { status, text } = await connection.ask(historyUrl(row.market), { headers });
        if (status === 200 && text.includes(`"observedAt":"${row.day}`)) return true;
      }
      return false;
    }, SHOWN_WITHIN_MS);
  } finally {
    connection.close();
  }
  if (!isShown) trial.broken('a change does not become public', `${when}: ${(await healthOf(service)).text}`);
  if (trial.counted('reads answered') === readBefore) trial.broken('no reads after a jump', when);
  const goesOn = await waitUntil(() => trial.counted('writes acknowledged') > acknowledged, MENDED_WITHIN_MS);
  if (!goesOn) trial.broken('no writes after a jump', when);
}

async function checkTimes(trial: Trial, service: ServiceProcess, { account }: Load): Promise<void> {
  const ids = account.writes.map(({ text }) => (JSON.parse(text) as { readonly id?: string }).id ?? '');
  const made = account.writes.flatMap(({ method, path }, index) =>
    method === 'POST' && !path.endsWith('/removal') ? [ids[index]] : [],
  );
  if (new Set(made).size !== made.length) trial.broken('an id comes twice', made.join(' '));
  // The log has them in the order in which they were published.
  const newest = new Map<string, string>();
  for (const { market, recordedAt } of await readLog(service)) {
    if (market === undefined || recordedAt === undefined) continue;
    trial.count('times checked');
    if (recordedAt < (newest.get(market) ?? '')) {
      trial.broken('a recordedAt goes backwards', `${market}: ${recordedAt} after ${newest.get(market)}`);
    }
    newest.set(market, recordedAt);
  }
}

interface LogEntry {
  readonly market?: string;
  readonly recordedAt?: string;
}

async function readLog(service: ServiceProcess): Promise<readonly LogEntry[]> {
  const read = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${service.port()}${LOG_URL}/${path}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const size = Number((await read('checkpoint')).toString().split('\n')[1]);
  const entries: LogEntry[] = [];
  for (let first = 0; first < size; first += TILE_WIDTH) {
    const lines = gunzipSync(await read(ndjsonPath(first / TILE_WIDTH, Math.min(TILE_WIDTH, size - first)))).toString();
    for (const line of lines.split('\n')) if (line !== '') entries.push(JSON.parse(line) as LogEntry);
  }
  return entries;
}
