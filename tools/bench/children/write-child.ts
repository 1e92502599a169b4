/**
 * Writes the files of one folder into another, durably, in the plainest way: temporary file, fsync, rename, fsync of the
 * folder, with as many under way as the publisher has. Prints what that took, as JSON. Reading is not counted.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import pMap from 'p-map';
import { OBJECT_CONCURRENCY as concurrency } from '../../../publisher/dependencies.ts';
import { elapsedMs } from '../rounds.ts';

export interface WriteReport {
  readonly elapsedMs: number;
  readonly files: number;
  readonly bytes: number;
}

/** Files held in memory at once. */
const FILES_AT_ONCE = 2_000;

const [source, target] = process.argv.slice(2);
if (source === undefined || target === undefined) throw new RangeError('give two folders');
const paths = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(source, join(parentPath, name)));
for (const folder of new Set(paths.map(dirname))) mkdirSync(join(target, folder), { recursive: true });

let totalMs = 0;
let bytes = 0;
for (let start = 0; start < paths.length; start += FILES_AT_ONCE) {
  const some = paths.slice(start, start + FILES_AT_ONCE);
  const bodies = await pMap(some, (path) => readFile(join(source, path)), { concurrency });
  bytes += bodies.reduce((sum, body) => sum + body.length, 0);
  const writeOne = (path: string, index: number) => write(join(target, path), bodies[index] as Buffer);
  totalMs += await elapsedMs(() => pMap(some, writeOne, { concurrency }));
}
console.log(JSON.stringify({ elapsedMs: totalMs, files: paths.length, bytes } satisfies WriteReport));

async function write(path: string, body: Buffer): Promise<void> {
  const file = await open(`${path}.tmp`, 'wx');
  await file.writeFile(body);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
}
