/**
 * `tidemark`: the operator's command line. Keeps the compiled code for the next start, which spends most of its time on
 * compiling and on stripping types. If the cache cannot be written, the start is only slower.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// The threads in which Node works on files. Four is its default, and the publisher alone writes 16 objects at once, each of
// which waits for the disk: a reader's file would wait behind them. Read by Node when it first works on a file.
process.env.UV_THREADPOOL_SIZE ??= '32';
// `kill -9` of cli/tidemark.mjs, which has started this process, means this one, too.
const endAtOnce = () => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', endAtOnce);
process.channel?.unref();
if (process.connected === false) endAtOnce();
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tidemark'));
const { runCommandLine } = await import('./program/run-command-line.ts');
await runCommandLine(process.argv.slice(2));
