/** A process that may open few files, and more connections than that. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { openConnections } from './connections.ts';
import { openConnection } from './exchange.ts';
import { runWithFaults } from './faulted-run.ts';
import { waitUntil } from './load.ts';
import { healthOf, ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import { NotPossible, type Scenario, type Trial } from './trial.ts';

/** A service without readers has some thirty files and pipes open. */
const FILES = 128;
const CONNECTIONS = 400;
const HELD_FOR_MS = 5_000;
/** The cache asks for a body that could not be read again after five seconds. */
const ASKED_AGAIN_AFTER_MS = 6_000;
const MENDED_WITHIN_MS = 90_000;

export const descriptorsScenario: Scenario = {
  name: 'descriptors',
  does: `gives the service ${FILES} file descriptors, and opens ${CONNECTIONS} connections, under reads and writes`,
  holds: [
    'It does not crash.',
    'Connections that were open before go on: each of their requests is answered, by 503 where a file must be opened.',
    'Connections that find no descriptor are closed at once.',
    'When connections close, new ones are served; bodies that could not be read are there five seconds later.',
    'Nothing acknowledged is lost, and `verify` passes.',
  ],
  times: 1,
  async run(trial) {
    if (process.platform === 'win32') throw new NotPossible('this system has no limit on descriptors');
    const service = createService({
      dataFolder: `${trial.folder}/data`,
      prefix: ['sh', '-c', `ulimit -n ${FILES} && exec "$@"`, 'sh'],
      environment: ORACLE_IS_PROXY,
    });
    await runWithFaults({
      trial,
      service,
      // A body that is not in memory cannot be read without a descriptor.
      load: { isReadAllowed: (status) => status === 503 },
      async fault() {
        await sleep(1_000);
        await useUp(trial, service);
      },
    });
  },
};

async function useUp(trial: Trial, service: ServiceProcess): Promise<void> {
  const before = openConnection(service.port);
  await before.ask(SNAPSHOT_URL);
  const connections = openConnections(service);
  try {
    await connections.add(CONNECTIONS);
    const untilMs = performance.now() + HELD_FOR_MS;
    while (performance.now() < untilMs) {
      const { status } = await before.ask(SNAPSHOT_URL);
      if (status === 200 || status === 503) trial.count(`answers ${status} on an older connection`);
      else trial.broken('an older connection is not served', String(status));
      await sleep(100);
    }
    trial.count('connections that were held', connections.open);
    trial.count('connections that were closed', connections.closed);
    if (connections.closed === 0) trial.broken('the fault was not made', `${connections.open} connections were held`);
    if (service.crash !== null) trial.broken('it crashed', service.crash);
  } finally {
    before.close();
    await connections.close();
  }
  const acknowledged = trial.counted('writes acknowledged');
  const isMended = await waitUntil(
    async () => (await healthOf(service)).status === 200 && trial.counted('writes acknowledged') > acknowledged + 3,
    MENDED_WITHIN_MS,
  );
  if (!isMended) trial.broken('it does not go on when connections close', (await healthOf(service)).text);
  await sleep(ASKED_AGAIN_AFTER_MS);
}
