/**
 * `tidemark start` in a process whose only source is on loopback: every host of `SOURCE_HOSTS` answers with the files of
 * the folder `SOURCE_FILES`. A file `<name>.status` makes it answer with that status instead.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fetchSource } from '../../lambdas/sources/fetch/fetch-source.ts';
import { runServer } from '../../server/commands/run.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { startSourceServer } from './source-server.ts';

const { SOURCE_HOSTS = '', SOURCE_FILES = '' } = process.env;

const { network } = await startSourceServer(SOURCE_HOSTS.split(','), ({ pathname }, response, request) => {
  const file = join(SOURCE_FILES, pathname.slice(1));
  if (existsSync(`${file}.status`)) {
    response.writeHead(Number(readFileSync(`${file}.status`, 'utf8')), { 'retry-after': '600' }).end();
    return;
  }
  if (!existsSync(file)) {
    response.writeHead(404).end();
    return;
  }
  const bytes = readFileSync(file);
  const etag = `"${sha256Hex(bytes).slice(0, 16)}"`;
  if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
  else response.writeHead(200, { etag }).end(bytes);
});

await runServer(process.env, (request) => fetchSource(request, network));
