/** The entry of an edge: a worker thread of the core, or a child process. It knows nothing but what the link says. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';

// A thread does not inherit it. See cli/main.ts.
enableCompileCache(join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'tidemark'));
const { channelOfPort, channelOfProcess } = await import('./channels.ts');
const { hostEdge } = await import('./host.ts');

if (parentPort !== null) {
  hostEdge(channelOfPort(parentPort), () => undefined);
} else {
  // A terminal sends its signals to every process, and a supervisor may too. The core says when to stop: a running
  // publication comes first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  // Without the core nobody purges, and a new core wants the port.
  hostEdge(channelOfProcess(process), () => process.exit(0));
}
