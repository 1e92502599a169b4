/** One service with the sample, for all tests in the browser. */
import type { TestProject } from 'vitest/node';
import { startServer } from '../embedded/server-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service's base URL, without a slash at the end. */
    readonly baseUrl: string;
    /** Its data folder. */
    readonly dataFolder: string;
  }
}

/** Called by Vitest before the first test file. Returns the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const temporary = await makeTemporaryFolder();
  const server = startServer({ TIDEMARK_DATA: temporary.folder, TIDEMARK_PROJECTIONS: 'all' });
  project.provide('baseUrl', await server.started);
  project.provide('dataFolder', temporary.folder);
  return async () => {
    await server.end('SIGTERM');
    await temporary.remove();
  };
}
