/** A disk whose every operation takes long, and one that hangs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { openConnection } from './exchange.ts';
import { runWithFaults } from './faulted-run.ts';
import { buildFaultyDisk, type FaultyDisk } from './faulty-disk.ts';
import { waitUntil } from './load.ts';
import { ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

const [SHORTEST_MS, LONGEST_MS] = [20, 200];
const SLOW_FOR_MS = 6_000;
/** Reads that are answered while one operation of the disk does not end. */
const READS = 50;
const HANGS_WITHIN_MS = 30_000;
/** No limit on time: the disk hangs until the reads are answered, or this has passed. */
const GIVEN_UP_AFTER_MS = 20_000;

export const slowDiskScenario: Scenario = {
  name: 'slow-disk',
  does: 'makes every operation on the data folder take up to 0.2 s longer, those of SQLite too; and makes one hang',
  holds: [
    `While a write waits for a disk that hangs, ${READS} reads of a hot body are answered.`,
    'Writes are slow and right: each is acknowledged, or answered 503 and settled by its key.',
    'Published URLs are read as before.',
    'Nothing acknowledged is lost, and `verify` passes.',
  ],
  times: 2,
  async run(trial) {
    const dataFolder = `${trial.folder}/data`;
    const disk = await buildFaultyDisk(trial.folder, dataFolder);
    const service = createService({ dataFolder, environment: { ...ORACLE_IS_PROXY, ...disk.environment } });
    try {
      await runWithFaults({
        trial,
        service,
        async fault() {
          await sleep(1_000);
          await readWhileItHangs(trial, disk, service);
          disk.delay(Math.round(trial.random.spread(SHORTEST_MS, LONGEST_MS)));
          await sleep(SLOW_FOR_MS);
          disk.delay(0);
        },
      });
      trial.count('operations that were delayed', disk.counted('delayed'));
    } finally {
      disk.hang(false);
      disk.close();
    }
  },
};

async function readWhileItHangs(trial: Trial, disk: FaultyDisk, service: ServiceProcess): Promise<void> {
  const connection = openConnection(service.port);
  await connection.ask(SNAPSHOT_URL);
  disk.hang(true);
  const isHanging = await waitUntil(() => disk.counted('hanging') > 0, HANGS_WITHIN_MS);
  if (!isHanging) trial.broken('the fault was not made', 'nothing was written while the disk would hang');
  let answered = 0;
  let last = 'no answer';
  const untilMs = performance.now() + GIVEN_UP_AFTER_MS;
  try {
    while (answered < READS && performance.now() < untilMs) {
      const { status } = await connection.ask(SNAPSHOT_URL, { limitMs: GIVEN_UP_AFTER_MS });
      last = String(status);
      if (status === 200 && disk.counted('hanging') > 0) answered++;
    }
  } catch (error) {
    last = (error as Error).message;
  }
  disk.hang(false);
  connection.close();
  trial.count('reads answered while the disk hangs', answered);
  if (answered < READS)
    trial.broken('readers wait for the disk', `${answered} of ${READS} were answered; last: ${last}`);
}
