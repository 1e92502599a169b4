#!/usr/bin/env node
/**
 * The command `tidemark`. Starts with whatever Node a user has, and goes on with the pinned one. So it depends on
 * nothing, and avoids syntax that an old Node cannot parse. In a clone it first installs what is missing, and builds the pages.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const sources = join(root, 'cli', 'main.ts');
const isClone = existsSync(sources);
const isServer = ['start', 'mirror'].includes(process.argv[2]);

if (Number(process.versions.node.split('.')[0]) < 20) {
  console.error(`Tidemark needs Node 20 or newer; this is ${process.version}. Install one from nodejs.org.`);
  process.exit(2);
}
if (isClone) await import(pathToFileURL(join(root, 'tools/install.mjs')).href);

const main = isClone ? sources : join(root, 'dist', 'main.mjs');
const pinned = findPinnedNode();
if (isClone && isServer) {
  const { status } = spawnSync(pinned.path, [join(root, 'tools/build/ensure-site.ts')], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) process.exit(1);
}
if (process.env.npm_command === 'exec') stopWithParent();
if (process.versions.node === pinned.version) await import(pathToFileURL(main).href);
else goOn(pinned.path);

function findPinnedNode() {
  try {
    const require = createRequire(join(root, 'package.json'));
    const manifest = require.resolve('node/package.json');
    const path = join(dirname(manifest), 'bin', 'node');
    if (existsSync(path)) return { path, version: require(manifest).version };
  } catch {
    // Said below.
  }
  console.error(
    'The package `node`, which holds the Node that Tidemark runs on, is not completely installed.\n' +
      'Allow its install script, and run it: `npm install-scripts approve node && npm rebuild node`. ' +
      'If npm does not know that command: `npm config set ignore-scripts false`, and install Tidemark again.',
  );
  return process.exit(2);
}

/** `npx` passes SIGTERM to its shell alone, which ends at once and leaves this process behind. */
function stopWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
}

/** A server takes little memory: see docs/operations.md, "Memory". What the caller has set comes last, and wins. */
function environment() {
  if (!isServer) return process.env;
  return {
    MALLOC_ARENA_MAX: '2',
    MALLOC_TRIM_THRESHOLD_: '65536',
    ...process.env,
    NODE_OPTIONS: `--max-semi-space-size=2 --max-old-space-size=512 ${process.env.NODE_OPTIONS ?? ''}`,
  };
}

/**
 * Hands over input, output and signals, and ends as the other process ends. The channel tells the other one that this
 * process was killed (cli/main.ts).
 */
function goOn(node) {
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const child = spawn(node, [main, ...process.argv.slice(2)], { stdio, env: environment() });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`${node} cannot be run: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
}
