/** Two services with the sample, for all tests in the browser: one that stays as it is, and one for tests that write. */
import type { TestProject } from 'vitest/node';
import { startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The base URL of the service that no test changes, without a slash at the end. */
    readonly baseUrl: string;
    /** That of the other one. */
    readonly changedUrl: string;
    /** The data folder of the other one. */
    readonly changedFolder: string;
  }
}

/** Called by Vitest before the first test file. Returns the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await Promise.all(
    ['unchanged', 'changed'].map(async () => {
      const temporary = await makeTemporaryFolder();
      await copySample(temporary.folder, 'all');
      const server = startServer({ TIDEMARK_DATA: temporary.folder, TIDEMARK_PROJECTIONS: 'all' });
      return { temporary, server, url: await server.started };
    }),
  );
  const [unchanged, changed] = services as [(typeof services)[0], (typeof services)[0]];
  project.provide('baseUrl', unchanged.url);
  project.provide('changedUrl', changed.url);
  project.provide('changedFolder', changed.temporary.folder);
  return async () => {
    for (const { server, temporary } of services) {
      await server.end('SIGTERM');
      await temporary.remove();
    }
  };
}
