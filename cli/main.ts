/**
 * `tidemark`: the operator's command line. It caches compiled code, because a start spends most of its time on compiling and on
 * stripping types. If the cache cannot be written, the start is only slower.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// The number of threads for file work in Node. The default is four. The publisher alone writes 16 objects concurrently, each of
// which waits for the disk, so reads for readers would wait behind them. Node uses this variable when it first works on a file.
process.env.UV_THREADPOOL_SIZE ??= '32';
// `kill -9` of cli/tidemark.mjs, which has started this process, must end this process, too.
const endAtOnce = () => process.kill(process.pid, 'SIGKILL');
process.on('disconnect', endAtOnce);
process.channel?.unref();
if (process.connected === false) endAtOnce();
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/tidemark'));
const { runCommandLine } = await import('./program/run-command-line.ts');
await runCommandLine(process.argv.slice(2));
