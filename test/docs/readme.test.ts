/** The commands of the README work, and get the answers that it shows. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../embedded/service.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const README_URL = 'http://127.0.0.1:8787';
const README_TOKEN = 'npm run --silent token --';
const MAIN = join(import.meta.dirname, '../../cli/main.ts');
/** Times, which differ from run to run. */
const VARIABLE = new Set(['publishedAt']);

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
const writing = /^## Write to it\n[\s\S]*?(?=^## )/m.exec(readme)?.[0] ?? '';

function blocksOf(text: string): { language: string; text: string }[] {
  return [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language = '', body = '']) => {
    return { language, text: body };
  });
}

let folder: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let service: Service;

beforeAll(async () => {
  folder = await makeTemporaryFolder();
});
afterAll(() => folder.remove());

/** Each part starts a service on the same folder, because a running one caches what was read. */
async function start() {
  service = await startService(
    {
      host: '127.0.0.1',
      port: 0,
      dataFolder: join(folder.folder, '.tidemark'),
      waitlistEmail: 'waitlist@tidemark.example',
      uploadsKeptDays: null,
      isSampleWanted: true,
      isLocalIssuerAllowed: true,
      issuer: null,
    },
    {
      ingesting: () => {},
      ingested: () => {},
      migrating: () => undefined,
      migrated: () => undefined,
      publishing: () => {},
    },
    (what, cause) => {
      throw new Error(what, { cause });
    },
  );
}

describe('a reading command of the README', () => {
  const blocks = blocksOf(readme.replace(writing, ''));
  const commands = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .filter((line) => line.startsWith('curl'));
  const shown = blocks.flatMap(({ language, text }, index) =>
    language === 'json' ? [{ command: blocks[index - 1]?.text.trim() ?? '', text }] : [],
  );

  beforeAll(start);
  afterAll(() => service.stop());

  /** The URL and header fields of a curl command. */
  function request(command: string): { url: string; headers: Record<string, string> } {
    const url = /https?:\/\/[^\s']+/.exec(command)?.[0].replace(README_URL, service.baseUrl) ?? '';
    const fields = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name, value]);
    return { url, headers: Object.fromEntries(fields) };
  }

  test('is found', () => {
    expect(commands.length).toBeGreaterThan(3);
  });

  test.each(commands)('is answered: %s', async (command) => {
    const { url, headers } = request(command);
    const response = await fetch(url, { headers });
    expect(response.status).toBe(headers['If-None-Match'] ? 304 : 200);
  });

  test.each(shown)('gets the body that is shown: $command', async ({ command, text }) => {
    const { url, headers } = request(command);
    const answer: unknown = await (await fetch(url, { headers })).json();
    expect(withoutClocks(answer)).toEqual(withoutClocks(JSON.parse(text)));
  });
});

describe('the writing commands of the README, typed into a shell in their order', () => {
  const steps = blocksOf(writing).flatMap(({ language, text }, index, all) =>
    language === 'sh' ? [{ script: text, shown: all[index + 1] }] : [],
  );

  beforeAll(start);
  afterAll(() => service.stop());

  test('are found', () => {
    expect(steps.length).toBeGreaterThan(3);
  });

  test.each(steps)('$script', async ({ script, shown }) => {
    const typed = script
      .replaceAll(README_URL, service.baseUrl)
      .replaceAll(README_TOKEN, `'${process.execPath}' '${MAIN}' token`);
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', typed], { cwd: folder.folder });
    if (shown?.language === 'json') expect(JSON.parse(stdout)).toMatchObject(JSON.parse(shown.text));
    for (const line of shown?.language === 'http' ? shown.text.trim().split('\n') : []) {
      // Names of fields come in either case; an ellipsis stands for what differs from run to run.
      expect(stdout.toLowerCase()).toContain(line.split('…')[0]?.toLowerCase());
    }
  });
});

function withoutClocks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner) => (VARIABLE.has(name) ? null : inner)));
}
