/** Loaded before the command line by `--import`: at its end, the process writes how often it has read each file below a folder. */
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';

const { READS_BELOW = '', READS_FILE = '' } = process.env;
const folder = realpathSync(READS_BELOW);
const { readFile } = promises;
const reads: Record<string, number> = {};

promises.readFile = (async (...[path, options]: Parameters<typeof readFile>) => {
  const name = typeof path === 'string' && existsSync(path) ? relative(folder, realpathSync(path)) : '..';
  if (!name.startsWith('..')) reads[name] = (reads[name] ?? 0) + 1;
  return await readFile(path, options);
}) as typeof readFile;
syncBuiltinESMExports();
process.on('exit', () => writeFileSync(READS_FILE, JSON.stringify(reads)));
