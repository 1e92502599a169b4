/** A server process with a source, for tests of the command line. */
import { join } from 'node:path';
import { type ServerProcess, startServer } from '../server/server-process.ts';

const MAIN = join(import.meta.dirname, 'serve-with-source.ts');

/** @param files the folder of the source's files */
export function startServerWithSource(
  data: string,
  files: string,
  hosts: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ServerProcess {
  const source = { SOURCE_FILES: files, SOURCE_HOSTS: hosts.join(',') };
  return startServer({ TIDEMARK_DATA: data, ...source, ...environment }, MAIN);
}
