/** The commands of the operator's guide and of the runbooks print what these show, typed in their order beside a running server. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { NO_CONFIG } from '../cli/tidemark.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { startServerWithSource } from '../sources/source-process.ts';
import { zipArchive } from '../sources/zip-archive.ts';
import { folderForAll } from '../storage/temporary-folder.ts';
import { patternOf, transcriptsOf } from './transcripts.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');

const guide = await readFile(new URL('../../docs/operator-guide.md', import.meta.url), 'utf8');
const runbooks = await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8');

/** The form of the ECB's file, with numbers of our own. */
const ECB = 'Date, USD, JPY, GBP, \n29 September 2026, 1.1741, 173.62, 0.8735, \n';

/** Without those of AWS: test/aws/runbooks.test.ts. */
const typed = [guide, runbooks].flatMap(transcriptsOf).filter(({ command }) => !/^(aws|git) /.test(command));

const temporary = folderForAll();

beforeAll(async () => {
  const { folder } = temporary;
  await writeFile(join(folder, 'tidemark'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(join(folder, 'tidemark'), 0o755);
  await symlink(join(import.meta.dirname, '../../mapping'), join(folder, 'mapping'));
  const files = join(folder, 'source');
  await mkdir(join(files, 'stats/eurofxref'), { recursive: true });
  await writeFile(join(files, 'stats/eurofxref/eurofxref.zip'), zipArchive([{ name: 'eurofxref.csv', content: ECB }]));
  await copySample(join(folder, '.tidemark'));
  const server = startServerWithSource(join(folder, '.tidemark'), files, ['www.ecb.europa.eu']);
  await server.started;
  return () => server.end('SIGKILL');
});

test.each([
  ['the guide', guide, 9],
  ['the runbook', runbooks, 3],
])('%s has transcripts', (_, document, atLeast) => {
  expect(transcriptsOf(document).length).toBeGreaterThanOrEqual(atLeast);
});

test.each(typed)('$command', async ({ command, shown, code }) => {
  const { folder } = temporary;
  const PATH = [folder, process.env.PATH].join(delimiter);
  const ended = await new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    const script = `exec 2>&1; ${command}\n`;
    execFile('bash', ['-c', script], { cwd: folder, env: { PATH, TIDEMARK_CONFIG: NO_CONFIG } }, (error, output) =>
      resolve({ code: error === null ? 0 : Number(error.code), output }),
    );
  });
  const lines = ended.output
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '');
  expect([ended.code, lines]).toEqual([code, shown.map((line) => expect.stringMatching(patternOf(line)))]);
});

test('the table has every exit code', () => {
  const rows = [...guide.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, code, meaning]) => ({
    code: Number(code),
    meaning,
  }));
  expect(rows).toEqual(Object.values(EXIT_CODES));
});
