/** The commands of the README and of docs/using.md work, and get the answers that are shown. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../server/server-process.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const README_URL = 'http://127.0.0.1:8787';
const README_TOKEN = 'npm run --silent token --';
const MAIN = join(import.meta.dirname, '../../cli/main.ts');
/** Times, which differ from run to run, and a digest of them. */
const VARIABLE = new Set(['publishedAt', 'updatedAt', 'listDigest']);

const [start, using] = (await Promise.all(
  ['README.md', 'docs/using.md'].map((path) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')),
)) as [string, string];
const readme = start + using;
const writing = /^## Write to it\n[\s\S]*?(?=^## )/m.exec(readme)?.[0] ?? '';

function blocksOf(text: string): { language: string; text: string }[] {
  return [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', body = '']) => {
    return { language, text: body };
  });
}

const folder = folderForAll();
let url: string;

/** Each part starts a server on the same folder, because a running one caches what was read. */
async function startOnFolder() {
  const server = startServer({ TIDEMARK_DATA: join(folder.folder, '.tidemark'), TIDEMARK_PROJECTIONS: 'none' });
  url = await server.started;
  return () => server.end('SIGKILL');
}

interface Step {
  readonly script: string;
  /** The block after it. */
  readonly shown: { readonly language: string; readonly text: string } | undefined;
}

const stepsOf = (text: string): readonly Step[] =>
  blocksOf(text).flatMap(({ language, text: script }, index, all) =>
    language === 'sh' && !script.startsWith('npm') ? [{ script, shown: all[index + 1] }] : [],
  );

/** The output of a script that is typed into a shell. */
async function outputOf(script: string): Promise<string> {
  const typed = script.replaceAll(README_URL, url).replaceAll(README_TOKEN, `'${process.execPath}' '${MAIN}' token`);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', typed], { cwd: folder.folder });
  return stdout;
}

function expectFields(stdout: string, { text }: NonNullable<Step['shown']>): void {
  for (const line of text.trim().split('\n')) {
    // Names of fields come in either case; an ellipsis stands for what differs from run to run.
    expect(stdout.toLowerCase()).toContain(line.split('…')[0]?.toLowerCase());
  }
}

describe('the reading commands of both, typed into a shell', () => {
  const steps = stepsOf(readme.replace(writing, ''));

  beforeAll(startOnFolder);

  test('are found', () => {
    expect(steps.length).toBeGreaterThan(2);
  });

  test.each(steps)('$script', async ({ script, shown }) => {
    const stdout = await outputOf(script);
    expect(stdout).not.toMatch(/^HTTP\/1\.1 [45]/m);
    if (shown?.language === 'json')
      expect(withoutClocks(JSON.parse(stdout))).toEqual(withoutClocks(JSON.parse(shown.text)));
    if (shown?.language === 'http') expectFields(stdout, shown);
  });
});

describe('the writing commands of both, typed into a shell in their order', () => {
  const steps = stepsOf(writing);

  beforeAll(startOnFolder);

  test('are found', () => {
    expect(steps.length).toBeGreaterThan(3);
  });

  test.each(steps)('$script', async ({ script, shown }) => {
    const stdout = await outputOf(script);
    if (shown?.language === 'json') expect(JSON.parse(stdout)).toMatchObject(JSON.parse(shown.text));
    if (shown?.language === 'http') expectFields(stdout, shown);
  });
});

function withoutClocks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner) => (VARIABLE.has(name) ? null : inner)));
}
