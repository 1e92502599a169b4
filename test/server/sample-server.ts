/** A server with the sample, started once for many tests. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { copySample } from './taken-in-sample.ts';

export interface SampleServer {
  /** For files of the tests. */
  readonly folder: string;
  readonly data: string;
  readonly url: string;
  /** The operator's. */
  readonly key: string;
  /** A test that stops it puts the next one here. */
  process: ServerProcess;
}

/** For all tests of a file or of a `describe`: its members are there once they run. */
export function sampleServerForAll(
  projections: 'log' | 'all' = 'log',
  environment: Readonly<Record<string, string>> = {},
): SampleServer {
  const served = {} as SampleServer;
  beforeAll(async () => {
    const { folder, remove } = await makeTemporaryFolder();
    const data = join(folder, 'data');
    await copySample(data, projections);
    const process = startServer({ TIDEMARK_DATA: data, TIDEMARK_PROJECTIONS: projections, ...environment });
    const url = await process.started;
    const key = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
    Object.assign(served, { folder, data, url, key, process });
    return async () => {
      await served.process.end('SIGKILL');
      await remove();
    };
  });
  return served;
}
