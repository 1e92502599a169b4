/**
 * `tidemark`: the operator's command line. Keeps the compiled code for the next start, which spends most of its time on
 * compiling and on stripping types. If the cache cannot be written, the start is only slower.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'tidemark'));
const { runCommandLine } = await import('./run-command-line.ts');
await runCommandLine(process.argv.slice(2));
