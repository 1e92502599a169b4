/** A disk that becomes read-only under the service, as Linux makes it after a fault of the medium; and one that is so at a start. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runWithFaults } from './faulted-run.ts';
import { buildFaultyDisk, type FaultyDisk } from './faulty-disk.ts';
import { waitUntil } from './load.ts';
import { healthOf, ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

const NOTICED_WITHIN_MS = 30_000;
const MENDED_WITHIN_MS = 75_000;
const REFUSED = 8;

/**
 * Neither mount(8) nor permissions make this fault: the kernel refuses to remount what is open for writing, and an open
 * file outlives its permissions. So the calls of libc fail, with the error that such a disk gives.
 */
export const readOnlyScenario: Scenario = {
  name: 'read-only',
  does: 'makes every change of the data folder fail (EROFS), at a start and under reads and writes, and then no longer',
  holds: [
    'A start ends with one line that names the folder, and changes nothing.',
    'Writes are answered 503 with a problem document, and change nothing.',
    'Published URLs are read as before, and `/healthz` says `failing`.',
    'When the disk can be written again, the service goes on without a restart.',
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
        async fault(load) {
          await sleep(trial.random.int(500, 2_000));
          await refuseChanges(trial, disk, service);
          await load.quietly(() => startReadOnly(trial, disk, service));
        },
      });
    } finally {
      disk.close();
    }
  },
};

async function refuseChanges(trial: Trial, disk: FaultyDisk, service: ServiceProcess): Promise<void> {
  const before = trial.counted('writes answered 503');
  const refused = () => trial.counted('writes answered 503') - before;
  disk.refuseChanges(true);
  const isNoticed = await waitUntil(async () => {
    const { status, text } = await healthOf(service);
    return refused() >= REFUSED && status === 503 && text.includes('"part":"ledger"');
  }, NOTICED_WITHIN_MS);
  if (!isNoticed) {
    const { status, text } = await healthOf(service);
    trial.broken('a read-only disk is not noticed', `${refused()} writes answered 503; /healthz: ${status} ${text}`);
  }
  const readBefore = trial.counted('reads answered');
  await sleep(1_000);
  if (trial.counted('reads answered') === readBefore) trial.broken('no reads while it is read-only', 'in one second');
  const acknowledged = trial.counted('writes acknowledged');
  disk.refuseChanges(false);
  trial.count('times read-only');
  const isMended = await waitUntil(
    async () => (await healthOf(service)).status === 200 && trial.counted('writes acknowledged') > acknowledged + 5,
    MENDED_WITHIN_MS,
  );
  if (!isMended) trial.broken('it does not go on when it can write', (await healthOf(service)).text);
}

/** A start is refused in one line, and the next one serves. */
async function startReadOnly(trial: Trial, disk: FaultyDisk, service: ServiceProcess): Promise<void> {
  await service.stop();
  disk.refuseChanges(true);
  const before = service.errors().length;
  service.begin();
  await service.served();
  const told = service.errors().slice(before).trim();
  if (service.isServing) trial.broken('it starts on a read-only disk', 'and would lose every write');
  else if (!/^The data folder \S+ cannot be used: .+$/.test(told)) trial.broken('a start without a reason', told);
  else trial.count('starts refused');
  disk.refuseChanges(false);
  await service.start();
}
