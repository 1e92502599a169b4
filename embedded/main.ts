/**
 * `npm start`. Of what the next start loads, compiled code is kept, without its types: that is most of the time that it takes
 * until it serves. Where it cannot be kept, nothing is.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tidemark'));
await import('./run.ts');
