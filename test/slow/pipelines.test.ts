/** A crowd that sends far more requests than it waits for, against a real server. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { startServerForTest } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

/** As `npm start` sets them. */
const AS_STARTED = {
  ...{ MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '65536' },
  NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=512',
};

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

const onLinux = test.skipIf(process.platform !== 'linux');

onLinux('1,000 connections with pipelined requests take less than 100 MB, and readers are answered', async () => {
  const data = join(await temporaryFolder(), 'data');
  await copySample(data);
  const server = startServerForTest({ ...AS_STARTED, TIDEMARK_DATA: data });
  const baseUrl = await server.started;
  /** The most memory that the server has while 2,500 reads are answered. */
  const mostMegabytes = async () => {
    let most = 0;
    for (let round = 0; round < 500; round++) {
      const reads = Array.from({ length: 5 }, async () => {
        const answer = await fetch(`${baseUrl}/api/v1/markets/gold-usd`);
        await answer.arrayBuffer();
        expect(answer.status).toBe(200);
      });
      await Promise.all(reads);
      const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
      most = Math.max(most, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
    }
    return most;
  };
  // Its memory is compared with the most that it has without a crowd.
  await mostMegabytes();
  const alone = await mostMegabytes();
  const crowd = new Worker(CROWD, { eval: true, workerData: Number(new URL(baseUrl).port) });
  await once(crowd, 'message');
  const beside = await mostMegabytes();
  await crowd.terminate();
  console.log(`memory grows by ${Math.round(beside - alone)} MB`);
  expect(beside - alone).toBeLessThan(100);
});
