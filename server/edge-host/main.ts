/** The entry point of the edge's thread. All its settings come over the link. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { type MessagePort, parentPort } from 'node:worker_threads';

// A thread does not inherit the compile cache. See cli/main.ts.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/tidemark'));
const { hostEdge } = await import('./host.ts');
const { collectAtRest } = await import('./collect-at-rest.ts');
hostEdge(parentPort as MessagePort);
collectAtRest();
