/** A crowd that sends far more requests than it waits for, against a real server. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startServerForTest } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const CONNECTIONS = 1_000;
const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const PACKET = REQUEST.repeat(Math.ceil((64 * 1024) / REQUEST.length));
const MOST_BYTES = 100 * 1024 * 1024;
const ROUNDS = 20;

function memoryBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

test('memory grows little, and other readers are answered', async () => {
  if (process.platform !== 'linux') {
    console.log('Skipped: only Linux tells the memory of a process');
    return;
  }
  const data = join(await temporaryFolder(), 'data');
  const server = startServerForTest({ TIDEMARK_DATA: data });
  const baseUrl = await server.started;
  const pid = server.child.pid as number;
  const read = async () => {
    const answer = await fetch(`${baseUrl}/api/v1/markets/gold-usd`);
    await answer.arrayBuffer();
    return answer.status;
  };
  for (let round = 0; round < ROUNDS; round++) expect(await read()).toBe(200);
  const before = memoryBytes(pid);
  const sockets = Array.from({ length: CONNECTIONS }, (): Socket => {
    const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1').on('error', () => {});
    socket.resume().write(PACKET);
    return socket;
  });
  let most = 0;
  for (let round = 0; round < ROUNDS; round++) {
    expect(await read()).toBe(200);
    most = Math.max(most, memoryBytes(pid) - before);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const socket of sockets) socket.destroy();
  expect(most).toBeLessThan(MOST_BYTES);
  expect(await read()).toBe(200);
});
