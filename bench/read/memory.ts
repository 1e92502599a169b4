/** The memory of the edge when it has served very many bodies, each twice. */
import { readFileSync } from 'node:fs';
import type { CacheUsage } from '../../embedded/edge/cache.ts';
import { DEFAULT_EDGE_LIMITS } from '../../embedded/edge/limits.ts';
import { residentBytes } from '../processor-time.ts';
import { RawConnection, rawRequest } from '../raw-client.ts';
import { ask, type Server, startScript } from '../server-process.ts';
import { bytes, number } from '../table.ts';
import type { Workspace } from '../workspace.ts';
import { CONNECTIONS } from '../wrk.ts';

export const MEMORY_COLUMNS = [
  'limit of the cache',
  'bodies cached',
  'by its own count',
  'process before',
  'process after',
  'grown, to its own count',
];

/** Holds 100,000 bodies of 1.1 KB with what belongs to them. */
const ENOUGH_BYTES = 1024 * 1024 * 1024;

/** One row for the default limit, and one for a limit that no body exceeds. `file` has the paths. */
export async function memoryRows(workspace: Workspace, folder: string, file: string): Promise<string[][]> {
  const paths = readFileSync(file, 'utf8').trimEnd().split('\n');
  const rows: string[][] = [];
  for (const limit of [DEFAULT_EDGE_LIMITS.maxCacheBytes, ENOUGH_BYTES]) {
    const edge = await startScript(workspace, 'edge', 'children/edge-child.ts', [folder, String(limit)]);
    await usageOf(edge);
    const before = residentBytes(edge.pid).now;
    for (const turn of [paths, paths]) await askAll(edge, turn);
    const after = residentBytes(edge.pid).now;
    const cached = await usageOf(edge);
    await edge.stop();
    rows.push([
      bytes(limit),
      number(cached.objects),
      bytes(cached.bytes),
      bytes(before),
      bytes(after),
      number((after - before) / cached.bytes, 2),
    ]);
  }
  return rows;
}

async function usageOf(edge: Server): Promise<CacheUsage> {
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
