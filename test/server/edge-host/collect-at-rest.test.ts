import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';

const SOURCE = new URL('../../../server/edge-host/collect-at-rest.ts', import.meta.url);

/** Says `freed` when an object that nothing holds is collected. */
const THREAD = `
  import { parentPort } from 'node:worker_threads';
  globalThis.registry = new FinalizationRegistry(() => parentPort.postMessage('freed'));
  globalThis.registry.register({ large: new Array(100_000).fill(1) }, null);
  parentPort.on('message', () => {});
  (await import(${JSON.stringify(SOURCE.href)})).collectAtRest();
  parentPort.postMessage('ready');
`;

it('a thread that rests gives back what its last work left behind', async () => {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`));
  try {
    const said: unknown[] = [];
    thread.on('message', (message) => said.push(message));
    await expect.poll(() => said, { timeout: 60_000 }).toEqual(['ready', 'freed']);
  } finally {
    thread.terminate();
    await once(thread, 'exit');
  }
});
