/** Every example of the reference runs as it stands: a shell, curl and jq, against a server with the sample. */
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CONDITIONS, curlOf, neededExamples } from '../../clients/web/docs/example-shell.ts';
import { OPERATION_VIEWS, type OperationView } from '../../clients/web/docs/openapi-view.ts';
import { READ_HOST, WRITE_HOST } from '../../contract/files/example-hosts.ts';
import { DEFAULT_PROJECTIONS } from '../../contract/files/projections.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const temporary = folderForAll();
let server: ServerProcess;
let url: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  const data = join(temporary.folder, 'data');
  const TIDEMARK_PROJECTIONS = [...DEFAULT_PROJECTIONS].join(',');
  server = startServer({ TIDEMARK_DATA: data, TIDEMARK_PROJECTIONS });
  url = await server.started;
  const TIDEMARK_API_KEY = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
  environment = { PATH: process.env.PATH, TIDEMARK_API_KEY };
  await mkdir(join(temporary.folder, 'downloads'));
  // The files of the day are made after the first publication.
  await vi.waitFor(async () => expect((await fetch(`${url}/api/v1/exports/latest`)).status).toBe(200), {
    timeout: 60_000,
    interval: 200,
  });
});

afterAll(() => server.end('SIGKILL'));

const operationOf = (id: string) => OPERATION_VIEWS.find(({ operationId }) => operationId === id) as OperationView;

/** Examples about things with a name, which are made once. */
const NAMED = ['putSource', 'putEntitlement', 'removeMarket'];
const UNDOES: Readonly<Record<string, string>> = { deleteSource: 'putSource', deleteEntitlement: 'putEntitlement' };
const done = new Set<string>();

/** The example, after those that it needs. */
function examplesFor(operation: OperationView): readonly OperationView[] {
  const before = neededExamples(operation).filter((id) => !done.has(id));
  return [...new Set([...before.flatMap((id) => examplesFor(operationOf(id))), operation])];
}

/** Each answer leaves its header in a file, by the time of its request. */
const WATCHED_CURL = 'curl() { command curl --no-progress-meter -D "../headers/$(date +%s%N)" "$@"; }';

/** Named things are made first; the removal of a market comes late. */
const ORDERED = OPERATION_VIEWS.toSorted((one, other) => rank(one) - rank(other));
function rank({ operationId, path }: OperationView): number {
  return /removal|takedowns|erasures/.test(path) ? 1 : NAMED.includes(operationId) ? -1 : 0;
}

test.each(ORDERED.map((operation) => [operation.operationId, operation] as const))('%s', async (id, operation) => {
  const examples = examplesFor(operation);
  const script = examples.map(curlOf).join('\n').replaceAll(WRITE_HOST, url).replaceAll(READ_HOST, url);
  const headers = join(temporary.folder, 'headers');
  await mkdir(headers);
  await writeFile(join(temporary.folder, 'example.sh'), `${WATCHED_CURL}\n${script}`);
  // A pipe of the shell: to open `/dev/stderr` by its name, the socket of Node will not do.
  const options = { cwd: join(temporary.folder, 'downloads'), env: environment };
  const printed = await text(spawn('bash', ['-c', 'bash ../example.sh 2>&1 | cat'], options).stdout);
  for (const { operationId } of examples) if (NAMED.includes(operationId)) done.add(operationId);
  done.delete(UNDOES[id] ?? '');
  const names = (await readdir(headers)).sort();
  const answers = await Promise.all(names.map((name) => readFile(join(headers, name), 'utf8')));
  await rm(headers, { recursive: true });
  const statuses = answers.map((header) => Number(/^HTTP\/[\d.]+ (\d+)/.exec(header)?.[1]));
  const documented = Object.keys(operation.responses).map(Number);
  const status = statuses.at(-1) ?? 0;
  const said = `${script}\n${printed}`;
  expect(documented, said).toContain(status);
  // A condition that the sample fulfils is a wrong one.
  expect(status >= 400, said).toBe(CONDITIONS[id] !== undefined);
  const before = examples.slice(0, -1).map(({ operationId }) => CONDITIONS[operationId] !== undefined);
  expect(
    statuses.slice(0, -1).map((one) => one >= 400),
    said,
  ).toEqual(before);
});
