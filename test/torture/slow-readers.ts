/** Readers who ask for much and read next to nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MARKETS_URL, OPENAPI_URL } from '../../contract/files/routes.ts';
import { openConnections } from './connections.ts';
import { openConnection } from './exchange.ts';
import { runWithFaults } from './faulted-run.ts';
import { waitUntil } from './load.ts';
import { ORACLE_IS_PROXY } from './oracle.ts';
import { createService, type ServiceProcess } from './service-process.ts';
import type { Scenario, Trial } from './trial.ts';

const READERS = 300;
/** In one packet: together some megabytes, more than the kernel's buffers. */
const ASKED_EACH = 19;
const REQUESTS = `GET ${OPENAPI_URL} HTTP/1.1\r\nHost: a\r\nAccept-Encoding: identity\r\n\r\n`.repeat(ASKED_EACH);
/**
 * Bodies in memory are kept once for all readers. Each request that waits takes 4 KB, and garbage as much again. So a
 * connection takes less than a fifth of a megabyte, and not the eight megabytes that it has asked for.
 */
const BYTES_EACH_AT_MOST = 256 * 1024;
/** Of garbage that V8 has not collected yet, and of the work that every service does meanwhile: for any number of readers. */
const OTHER_BYTES_AT_MOST = 64 * 1024 * 1024;
/** Twice the limit on idle connections, and a slow machine. */
const CUT_OFF_WITHIN_MS = 90_000;

export const slowReadersScenario: Scenario = {
  name: 'slow-readers',
  does: `asks for the largest body ${ASKED_EACH} times on each of ${READERS} connections, and reads a byte a second`,
  holds: [
    `Memory is bounded: ${OTHER_BYTES_AT_MOST / 1024 ** 2} MB, and ${BYTES_EACH_AT_MOST / 1024} KB for each connection, whatever was asked for.`,
    'Other readers are served all the time.',
    'The slow ones are cut off, after at most twice the limit on idle connections (30 s).',
    'Writes go on, nothing acknowledged is lost, and `verify` passes.',
  ],
  times: 1,
  async run(trial) {
    const service = createService({ dataFolder: `${trial.folder}/data`, environment: ORACLE_IS_PROXY });
    await runWithFaults({
      trial,
      service,
      load: { readPauseMs: 200, writePauseMs: 1_000 },
      fault: () => readSlowly(trial, service),
    });
  },
};

async function readSlowly(trial: Trial, service: ServiceProcess): Promise<void> {
  const connections = openConnections(service, { reading: 'bytes' });
  const other = openConnection(service.port);
  try {
    const { text } = await other.ask(OPENAPI_URL);
    trial.count('bytes of the largest body', Buffer.byteLength(text));
    const socketsBefore = service.sockets();
    const memoryBefore = service.memoryBytes();
    const startedMs = performance.now();
    await connections.add(READERS, REQUESTS);
    await sleep(1_000);
    const held = service.sockets() - socketsBefore;
    let most = 0;
    let served = 0;
    let left = held;
    const areCutOff = await waitUntil(async () => {
      most = Math.max(most, service.memoryBytes() - memoryBefore);
      if ((await other.ask(MARKETS_URL)).status === 200) served++;
      connections.readByte();
      await sleep(950);
      // Nobody who does not read learns that a connection has ended.
      left = Math.max(0, service.sockets() - socketsBefore);
      return left <= READERS / 100;
    }, CUT_OFF_WITHIN_MS);
    trial.count('connections that were held', held);
    trial.count('seconds until all were cut off', Math.round((performance.now() - startedMs) / 1000));
    trial.count('bytes that were read', connections.bytes);
    trial.count('bytes of memory for each', Math.max(0, Math.round(most / READERS)));
    trial.count('answers to others meanwhile', served);
    if (!areCutOff) trial.broken('slow readers are not cut off', `${left} of ${held} are still there`);
    if (most > READERS * BYTES_EACH_AT_MOST + OTHER_BYTES_AT_MOST) {
      trial.broken('memory is not bounded', `${most} bytes for ${held} connections`);
    }
  } finally {
    other.close();
    await connections.close();
  }
}
