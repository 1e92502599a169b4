/**
 * Reads hot bodies of a server over one connection, over and over. Its parent asks for the times of the answers: a process
 * of its own, because the parent's other work would count as waiting.
 */
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [baseUrl = '', ...paths] = process.argv.slice(2);
const BETWEEN_READS_MS = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let took: number[] = [];

process.on('message', () => {
  process.send?.(took);
  took = [];
});

for (let reads = 0; ; reads++) {
  const beganAtMs = performance.now();
  const [response] = (await once(get(baseUrl + paths[reads % paths.length], { agent }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  await once(response, 'end');
  if (response.statusCode !== 200) throw new Error(`a read was answered ${response.statusCode}`);
  took.push(performance.now() - beganAtMs);
  await sleep(BETWEEN_READS_MS);
}
