/**
 * Data folders with the sample, taken in and published, as a server left them: a first start takes five seconds of a processor, with
 * all projections ten. Each is made once in a run of tests, and copied.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MADE_FOLDER, madeOnce } from '../made-once.ts';
import { startServer } from './server-process.ts';

/** The last files of a first start with all projections. */
const LAST = ['exports/latest', 'compat/hledger/prices.journal'];

/** Vitest's `globalSetup`: the folders are there as long as the tests run. `npm test` keeps them for all sets. */
export default function setup(): () => void {
  if (process.env[MADE_FOLDER] !== undefined) return () => {};
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-samples-'));
  process.env[MADE_FOLDER] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Copies one into a new data folder. A server with the same projections has nothing to do in it. */
export async function copySample(dataFolder: string, projections: 'log' | 'all' = 'log'): Promise<void> {
  const made = await madeOnce(projections, async (data) => {
    const server = startServer({ TIDEMARK_DATA: data, TIDEMARK_PROJECTIONS: projections });
    const url = await server.started;
    for (const path of projections === 'all' ? LAST : []) {
      while ((await fetch(`${url}/api/v1/${path}`)).status !== 200) await sleep(200);
    }
    await server.end('SIGTERM');
  });
  await cp(made, dataFolder, { recursive: true });
}
