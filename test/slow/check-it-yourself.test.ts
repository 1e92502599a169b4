/** The commands of "Three things to try" in the README print what it shows, typed in their order beside a running server. */
import { execFile } from 'node:child_process';
import { chmod, cp, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { MAIN } from '../cli/tidemark.ts';
import { patternOf, transcriptsOf } from '../docs/transcripts.ts';
import { startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const URL_SHOWN = 'http://127.0.0.1:8787';
const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
const typed = transcriptsOf(readme);

const temporary = folderForAll();
let url: string;

beforeAll(async () => {
  const { folder } = temporary;
  await writeFile(join(folder, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(join(folder, 'npx'), 0o755);
  await cp(new URL('../../mapping/sample', import.meta.url), join(folder, 'mapping/sample'), { recursive: true });
  await copySample(join(folder, '.tidemark'));
  const server = startServer({ TIDEMARK_DATA: join(folder, '.tidemark') });
  url = await server.started;
  return () => server.end('SIGKILL');
});

test('there are seven commands', () => {
  expect(typed).toHaveLength(7);
});

test.each(typed)('$command', async ({ command, shown }) => {
  const { folder } = temporary;
  const PATH = [folder, process.env.PATH].join(delimiter);
  const env = { PATH, TIDEMARK_CONFIG: join(folder, 'config.json') };
  const ended = await new Promise<{ readonly failed: boolean; readonly output: string }>((resolve) => {
    const script = `exec 2>&1; ${command.replace(URL_SHOWN, url)}\n`;
    // The data folder beside it names the running server.
    execFile('bash', ['-c', script], { cwd: folder, env }, (error, output) =>
      resolve({ failed: error !== null, output: output.replaceAll(url, URL_SHOWN) }),
    );
  });
  // On a busy machine, some lines tell how far it is.
  const isProgress = (line: string) => /^(Reading|Checking|Comparing) the .*(…|,|%)| copying /.test(line);
  const lines = ended.output.split('\n').filter((line) => line !== '' && !isProgress(line));
  const patterns = shown.map((line) => expect.stringMatching(patternOf(line)));
  expect([ended.failed, [...lines].sort()]).toEqual([false, expect.arrayContaining(patterns)]);
  // A line of its own stands for any number of lines.
  if (!shown.includes('…')) expect(lines).toHaveLength(shown.length);
});
