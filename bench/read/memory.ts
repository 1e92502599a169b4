/** The memory of the edge when it has served very many bodies, each twice. */
import { readFileSync } from 'node:fs';
import { DEFAULT_EDGE_LIMITS } from '../../embedded/edge/limits.ts';
import type { EdgeMemory } from '../children/edge-child.ts';
import { residentBytes } from '../processor-time.ts';
import { RawConnection, rawRequest } from '../raw-client.ts';
import type { Section } from '../section.ts';
import { ask, type Server, startScript } from '../server-process.ts';
import { bytes, number } from '../table.ts';
import type { Workspace } from '../workspace.ts';
import { CONNECTIONS } from '../wrk.ts';

const COLUMNS = [
  'limit of the cache',
  'bodies cached',
  'by its own count',
  'heap grown, without garbage',
  'process before',
  'process after, with it',
];

/** Holds 100,000 bodies of 1.1 KB with what belongs to them. */
const ENOUGH_BYTES = 1024 * 1024 * 1024;
const { maxCacheBytes } = DEFAULT_EDGE_LIMITS;

const LIMITS = [
  { name: `${bytes(maxCacheBytes)}, the default`, limit: maxCacheBytes, options: [] },
  {
    name: `${bytes(maxCacheBytes)}, and 256 MiB for old objects of V8`,
    limit: maxCacheBytes,
    options: ['--max-old-space-size=256'],
  },
  { name: bytes(ENOUGH_BYTES), limit: ENOUGH_BYTES, options: [] },
];

/** What is measured, and a row for each limit. `file` has the paths. */
export async function tellMemory(section: Section, workspace: Workspace, folder: string, file: string): Promise<void> {
  const paths = readFileSync(file, 'utf8').trimEnd().split('\n');
  const rows: string[][] = [];
  for (const { name, limit, options } of LIMITS) {
    const script = 'children/edge-child.ts';
    const edge = await startScript(workspace, 'edge', script, [folder, String(limit)], ['--expose-gc', ...options]);
    const usedBefore = (await usageOf(edge)).usedBytes;
    const before = residentBytes(edge.pid).now;
    for (const turn of [paths, paths]) await askAll(edge, turn);
    const after = residentBytes(edge.pid).now;
    const cached = await usageOf(edge);
    await edge.stop();
    rows.push([
      name,
      number(cached.objects),
      bytes(cached.bytes),
      bytes(cached.usedBytes - usedBefore),
      bytes(before),
      bytes(after),
    ]);
  }
  section.say(
    `Memory of the edge when each of ${number(paths.length)} bodies of 1.1 KB was read twice. The cache counts bodies, fields and what finds them, and`,
    'never exceeds its limit by its own count. The heap takes somewhat more. Garbage comes on top, as much as V8 leaves: a limit of its own bounds it (`NODE_OPTIONS=--max-old-space-size=256`).',
  );
  section.table(COLUMNS, rows);
}

async function usageOf(edge: Server): Promise<EdgeMemory> {
  return JSON.parse((await ask(edge, '/healthz', {})).body.toString('utf8'));
}

/** Each path once. */
async function askAll({ port }: Server, paths: readonly string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawConnection.open(port, reject)));
  let next = 0;
  let open = connections.length;
  const go = (connection: RawConnection) => {
    const path = paths[next++];
    if (path !== undefined) connection.send(rawRequest(port, path, {}), () => go(connection));
    else if (--open === 0) resolve();
  };
  for (const connection of connections) go(connection);
  await promise;
  for (const connection of connections) connection.close();
}
