/** What the README shows is what the service answers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../embedded/service.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const README_URL = 'http://127.0.0.1:8787';
/** Clocks: what differs from run to run, and what is derived from it. */
const VARIABLE = new Set(['publishedAt']);

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
  language,
  text: text ?? '',
}));

let service: Service;
let temporary: Awaited<ReturnType<typeof makeTemporaryFolder>>;

beforeAll(async () => {
  temporary = await makeTemporaryFolder();
  const config = { host: '127.0.0.1', port: 0, dataFolder: join(temporary.folder, 'data') };
  const quiet = { ingesting: () => {}, ingested: () => {}, publishing: () => {} };
  service = await startService(config, quiet, (what, cause) => {
    throw new Error(what, { cause });
  });
});

afterAll(async () => {
  await service.stop();
  await temporary.remove();
});

/** The URL and header fields of a curl command. */
function request(command: string): { url: string; headers: Record<string, string> } {
  const url = /https?:\/\/[^\s']+/.exec(command)?.[0].replace(README_URL, service.baseUrl) ?? '';
  const fields = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [name, value]);
  return { url, headers: Object.fromEntries(fields) };
}

const commands = blocks
  .filter(({ language }) => language === 'sh')
  .flatMap(({ text }) => text.split('\n'))
  .filter((line) => line.startsWith('curl'));

test('the README shows commands to try', () => {
  expect(commands.length).toBeGreaterThan(3);
});

test.each(commands)('%s', async (command) => {
  const { url, headers } = request(command);
  const response = await fetch(url, { headers });
  expect(response.status).toBe(headers['If-None-Match'] ? 304 : 200);
});

describe('a body that the README shows under a command is what the command prints', () => {
  const shown = blocks.flatMap(({ language, text }, index) =>
    language === 'json' ? [{ command: blocks[index - 1]?.text.trim() ?? '', text }] : [],
  );

  test.each(shown)('$command', async ({ command, text }) => {
    const { url, headers } = request(command);
    const answer: unknown = await (await fetch(url, { headers })).json();
    expect(withoutClocks(answer)).toEqual(withoutClocks(JSON.parse(text)));
  });
});

function withoutClocks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner) => (VARIABLE.has(name) ? null : inner)));
}
