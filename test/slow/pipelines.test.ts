/** A crowd that sends far more requests than it waits for, against a real server. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { startServerForTest } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const MOST_BYTES = 100 * 1024 * 1024;
/** As `npm start` sets them. */
const AS_STARTED = {
  ...{ MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '65536' },
  NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=512',
};
const READS = 500;
const READERS = 5;

/** In a thread of its own, so that its work does not delay the readers. Whoever is cut off comes again. */
const CROWD = `
  const { connect } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const request = 'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n';
  const packet = request.repeat(Math.ceil((64 * 1024) / request.length));
  let connected = 0;
  const begin = () => {
    const socket = connect(workerData, '127.0.0.1').on('error', () => {}).on('close', begin);
    socket.resume().write(packet);
    socket.once('connect', () => ++connected === 1_000 && parentPort.postMessage('all are there'));
  };
  for (let left = 1_000; left > 0; left--) begin();`;

function memoryBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

test('memory grows little, and other readers are answered', async () => {
  if (process.platform !== 'linux') {
    console.log('Skipped: only Linux tells the memory of a process');
    return;
  }
  const data = join(await temporaryFolder(), 'data');
  await copySample(data);
  const server = startServerForTest({ ...AS_STARTED, TIDEMARK_DATA: data });
  const baseUrl = await server.started;
  const pid = server.child.pid as number;
  /** The milliseconds that all but one in a hundred of the reads took at most. Each must succeed. */
  const p99OfReads = async (watch = () => {}) => {
    const took: number[] = [];
    const read = async () => {
      while (took.length < READS) {
        const begun = performance.now();
        const answer = await fetch(`${baseUrl}/api/v1/markets/gold-usd`);
        await answer.arrayBuffer();
        took.push(performance.now() - begun);
        expect(answer.status).toBe(200);
        watch();
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
    return took.sort((left, right) => left - right)[Math.ceil(took.length * 0.99) - 1] ?? 0;
  };
  let [calm, most] = [0, 0];
  // Its memory is compared with the most that it had without a crowd.
  await p99OfReads();
  const alone = await p99OfReads(() => {
    calm = Math.max(calm, memoryBytes(pid));
  });
  const crowd = new Worker(CROWD, { eval: true, workerData: Number(new URL(baseUrl).port) });
  await once(crowd, 'message');
  const beside = await p99OfReads(() => {
    most = Math.max(most, memoryBytes(pid) - calm);
  });
  await crowd.terminate();
  console.log(`p99 of readers: ${beside.toFixed(1)} ms beside the crowd, ${alone.toFixed(1)} ms without it`);
  console.log(`memory grows by ${Math.round(most / 1024 / 1024)} MB`);
  expect(most).toBeLessThan(MOST_BYTES);
  await p99OfReads();
});
