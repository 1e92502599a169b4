/** Thousands of connections on which nothing is asked. */
import { MARKETS_URL } from '../../contract/files/routes.ts';
import { openConnections } from './connections.ts';
import { openConnection } from './exchange.ts';
import { runWithFaults } from './faulted-run.ts';
import { ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

const CONNECTIONS = 10_000;
/** Of them, so many have asked once and keep the connection, as idle browsers do. The others have never asked. */
const ASKED = 1_000;
/** Each new reader ends a connection that asks nothing; the one who comes between the two tries once more. */
const REFUSALS_AT_MOST = 3;
const NEW_READERS = 50;
const BYTES_EACH_AT_MOST = 64 * 1024;

export const idleConnectionsScenario: Scenario = {
  name: 'idle-connections',
  does: `opens ${CONNECTIONS.toLocaleString('en-GB')} connections and asks nothing on most of them`,
  holds: [
    'Readers who were connected before are served all the time; a few lose their connection between two requests.',
    'A reader who comes then is served: the connection that was quiet for longest makes room.',
    `Memory is bounded: at most ${BYTES_EACH_AT_MOST / 1024} KB for each connection that is open.`,
    'Writes go on, nothing acknowledged is lost, and `verify` passes.',
  ],
  times: 1,
  async run(trial) {
    const service = createService({ dataFolder: `${trial.folder}/data`, environment: ORACLE_IS_PROXY });
    await runWithFaults({ trial, service, fault: () => holdMany(trial, service) });
  },
};

async function holdMany(trial: Trial, service: ServiceProcess): Promise<void> {
  const connections = openConnections(service);
  try {
    const memoryBefore = service.memoryBytes();
    await connections.add(ASKED, `GET ${MARKETS_URL} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await connections.add(CONNECTIONS - ASKED);
    const held = connections.open;
    trial.count('connections that were held', held);
    trial.count('connections that were closed at once', CONNECTIONS - held);
    const each = Math.round((service.memoryBytes() - memoryBefore) / held);
    trial.count('bytes of memory for each', each);
    if (each > BYTES_EACH_AT_MOST) trial.broken('memory is not bounded', `${each} bytes for each of ${held}`);
    for (let reader = 0; reader < NEW_READERS; reader++) await serveOne(trial, service);
  } finally {
    await connections.close();
  }
}

/** A reader who has no connection yet. */
async function serveOne(trial: Trial, service: ServiceProcess): Promise<void> {
  for (let refusals = 0; refusals <= REFUSALS_AT_MOST; refusals++) {
    const reader = openConnection(service.port);
    try {
      const { status } = await reader.ask(MARKETS_URL);
      if (status !== 200) trial.broken('a new reader is not served', String(status));
      trial.count('new readers served');
      return;
    } catch {
      trial.count('refusals of a new reader');
    } finally {
      reader.close();
    }
  }
  trial.broken('a new reader is not served', `${REFUSALS_AT_MOST + 1} tries`);
}
