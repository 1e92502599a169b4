/**
 * A restart of the embedded server: from its start until it serves, with the sample alone, and with many observations. The floor
 * is a process that does nothing but serve the same objects by the same edge.
 */
import { join } from 'node:path';
import { SNAPSHOT_URL } from '../contract/routes.ts';
import { openDirectoryObjects } from '../storage/directory-objects.ts';
import { openSqliteLedger } from '../storage/sqlite-ledger.ts';
import type { BenchOptions } from './benchmark.ts';
import { DEPLOYMENT } from './deployment.ts';
import { startEmbedded } from './embedded-process.ts';
import { publishDue, SettableClock } from './publish-due.ts';
import { elapsedMs, interleave, ratios } from './rounds.ts';
import { ask, startScript } from './server-process.ts';
import { dependenciesOn, fillWithHistories } from './synthetic-ledger.ts';
import { number, withSpread } from './table.ts';
import type { Workspace } from './workspace.ts';

const OBSERVATIONS = 60_000;
const FULL_OBSERVATIONS = 600_000;
const QUICK_OBSERVATIONS = 2_000;
const EACH_MARKET = 200;
/** In seconds. */
const PROMISES = { sample: 1, many: 3 };

export async function benchRestart({ quick, full, rounds, workspace, section }: BenchOptions): Promise<void> {
  const observations = quick ? QUICK_OBSERVATIONS : full ? FULL_OBSERVATIONS : OBSERVATIONS;
  section.say(
    'From the start of the process until it serves; and the floor, a process that has nothing but an edge over the same objects.',
    `Promises: ${PROMISES.sample} s with the sample's 175 markets, ${PROMISES.many} s with ${number(FULL_OBSERVATIONS)} observations.`,
  );
  const sampleFolder = join(workspace.folder('restart-sample'), 'data');
  const manyFolder = await publishedFolder(workspace, observations);
  // The first start ingests the sample, and leaves compiled code behind.
  for (const folder of [sampleFolder, manyFolder]) await (await startEmbedded(workspace, folder)).stop();
  const cpu = { sample: [] as number[], many: [] as number[] };
  const start = (name: keyof typeof cpu, folder: string) => async () => {
    const server = await startEmbedded(workspace, folder);
    cpu[name].push(server.startedCpuMs);
    await server.stop();
    return server.startedMs;
  };
  const started = await interleave(rounds, {
    sample: start('sample', sampleFolder),
    many: start('many', manyFolder),
    floor: () => startEdge(workspace, sampleFolder),
  });
  section.table(
    ['', 'serves after, s', 'promise', 'processor time, s', 'to the floor'],
    (['sample', 'many'] as const).map((name) => [
      name === 'sample'
        ? '175 markets'
        : `${number(observations / EACH_MARKET)} markets, ${number(observations)} observations`,
      withSpread(
        started[name].map((ms) => ms / 1000),
        2,
      ),
      `≤ ${PROMISES[name]}`,
      withSpread(
        cpu[name].map((ms) => ms / 1000),
        2,
      ),
      withSpread(ratios(started[name], started.floor), 2),
    ]),
  );
}

async function startEdge(workspace: Workspace, dataFolder: string): Promise<number> {
  let stop = async () => {};
  const tookMs = await elapsedMs(async () => {
    const edge = await startScript(workspace, 'edge', 'children/edge-child.ts', [dataFolder]);
    await ask(edge, SNAPSHOT_URL, {});
    stop = edge.stop;
  });
  await stop();
  return tookMs;
}

/** A data folder with this many published observations. */
async function publishedFolder(workspace: Workspace, observations: number): Promise<string> {
  const folder = workspace.folder('restart-many');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const objects = await openDirectoryObjects(folder);
  await fillWithHistories(ledger, observations / EACH_MARKET, EACH_MARKET);
  const clock = new SettableClock(Date.now);
  await publishDue({ ...dependenciesOn(ledger), ...DEPLOYMENT, objects }, clock);
  ledger.close();
  return folder;
}
