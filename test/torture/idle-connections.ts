/** Thousands of connections on which nothing is asked. */
import { MARKETS_URL } from '../../contract/routes.ts';
import { openConnections } from './connections.ts';
import { openConnection } from './exchange.ts';
import { runWithFaults } from './faulted-run.ts';
import { ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

const CONNECTIONS = 10_000;
/** Of them, so many have asked once and keep the connection, as idle browsers do. The others have never asked. */
const ASKED = 1_000;
const BYTES_EACH_AT_MOST = 32 * 1024;

export const idleConnectionsScenario: Scenario = {
  name: 'idle-connections',
  does: `opens ${CONNECTIONS.toLocaleString('en-GB')} connections and asks nothing on most of them`,
  holds: [
    'Readers who were connected before are served all the time.',
    'A reader who comes then is served at once: the connection that was quiet for longest ends.',
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
    const reader = openConnection(service.port);
    try {
      const { status } = await reader.ask(MARKETS_URL);
      if (status !== 200) trial.broken('a new reader is not served', `it was answered ${status}`);
    } catch (error) {
      trial.broken('a new reader is not served', (error as Error).message);
    } finally {
      reader.close();
    }
  } finally {
    await connections.close();
  }
}
