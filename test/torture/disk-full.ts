/** A disk that fills up while the service writes, and is freed again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runWithFaults } from './faulted-run.ts';
import { waitUntil } from './load.ts';
import { healthOf, ORACLE_IS_PROXY } from './oracle.ts';
import { createService } from './service-process.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';
import type { Scenario, Trial } from './trial.ts';

const DISK_MEGABYTES = 24;
/** The health check writes to the ledger once in five seconds. */
const NOTICED_WITHIN_MS = 30_000;
/** Writes that must be refused before the disk is freed. */
const REFUSED = 10;
const MENDED_WITHIN_MS = 75_000;

export const diskFullScenario: Scenario = {
  name: 'disk-full',
  does: 'fills the disk of the data folder to the last byte under reads and writes, and frees it again',
  holds: [
    'Writes are answered 503 with a problem document, and change nothing, or are acknowledged and stay.',
    'Published URLs are read as before.',
    '`/healthz` says `failing`, names the ledger, and says that the disk is full.',
    'When there is room again, the service goes on without a restart.',
    'Nothing acknowledged is lost, and `verify` passes.',
  ],
  times: 2,
  async run(trial) {
    const disk = await mountSmallDisk(trial.folder, DISK_MEGABYTES);
    const dataFolder = `${disk.path}/data`;
    const shownFolder = `${disk.shownPath}/data`;
    const service = createService({ dataFolder, shownFolder, prefix: disk.prefix, environment: ORACLE_IS_PROXY });
    try {
      await runWithFaults({
        trial,
        service,
        async fault() {
          await sleep(trial.random.int(1_000, 3_000));
          await fillOnce(trial, disk, () => healthOf(service));
        },
      });
    } finally {
      await disk.close();
    }
  },
};

async function fillOnce(
  trial: Trial,
  disk: SmallDisk,
  health: () => Promise<{ readonly status: number; readonly text: string }>,
): Promise<void> {
  const refusedBefore = trial.counted('writes answered 503');
  const refused = () => trial.counted('writes answered 503') - refusedBefore;
  const isNoticed = await waitUntil(async () => {
    // What the service removes is taken, too.
    disk.fill();
    const { status, text } = await health();
    return refused() >= REFUSED && status === 503 && /disk of the service is full[^}]*"part":"ledger"/.test(text);
  }, NOTICED_WITHIN_MS);
  if (!isNoticed) {
    const { status, text } = await health();
    trial.broken('a full disk is not noticed', `${refused()} writes answered 503; /healthz: ${status} ${text}`);
  }
  trial.count('times full');
  const readBefore = trial.counted('reads answered');
  await sleep(2_000);
  if (trial.counted('reads answered') === readBefore) trial.broken('no reads while it is full', 'in two seconds');
  const acknowledged = trial.counted('writes acknowledged');
  disk.free();
  const isMended = await waitUntil(
    async () => (await health()).status === 200 && trial.counted('writes acknowledged') > acknowledged + 5,
    MENDED_WITHIN_MS,
  );
  if (!isMended) trial.broken('it does not go on when the disk is freed', (await health()).text);
}
