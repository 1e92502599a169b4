/** Which deployment is spoken to, and which key it is sent. */
import { type EventEmitter, once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere } from './in-process.ts';
import { json, stubServer } from './stub-server.ts';
import { finished, type Run, spawnTidemark, tidemark } from './tidemark.ts';

const PUBLISHED = { id: 'pub_1', state: 'published', generation: 7, publishedAt: '2026-11-20T12:00:00Z' };

let folder: string;
let config: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  config = join(folder, 'config.json');
});

async function writeConfig(content: unknown, mode = 0o600): Promise<void> {
  await writeFile(config, typeof content === 'string' ? content : JSON.stringify(content));
  await chmod(config, mode);
}

const publish = (environment: Readonly<Record<string, string>>, ...words: readonly string[]) =>
  tidemarkHere(['publish', '--all', ...words], {
    environment: { TIDEMARK_CONFIG: config, TIDEMARK_DATA: '', ...environment },
    cwd: folder,
  });

function expectUsage({ code, output, errors }: Run, ...parts: readonly string[]): void {
  expect([code, output]).toEqual([2, '']);
  for (const part of parts) expect(errors).toContain(part);
}

describe('the key and the URL come from', () => {
  const keyOf = async (server: Awaited<ReturnType<typeof stubServer>>, run: Promise<Run>) => {
    expect(await run).toMatchObject({ code: 0 });
    return server.seen[0]?.headers.authorization;
  };

  test('the environment', async () => {
    const server = await stubServer(json(PUBLISHED));
    const run = publish({ TIDEMARK_URL: server.url, TIDEMARK_KEY: 'key-1' });
    expect(await keyOf(server, run)).toBe('Bearer key-1');
  });

  test('options, before the environment', async () => {
    const server = await stubServer(json(PUBLISHED));
    await writeFile(join(folder, 'key'), 'key-2\n', { mode: 0o600 });
    const run = publish(
      { TIDEMARK_URL: 'http://127.0.0.1:2', TIDEMARK_WRITE_URL: 'http://127.0.0.1:2', TIDEMARK_KEY: 'key-1' },
      ...['--url', server.url, '--key-file', join(folder, 'key')],
    );
    expect(await keyOf(server, run)).toBe('Bearer key-2');
  });

  test('the default profile, or a named one', async () => {
    const [server, other] = [await stubServer(json(PUBLISHED)), await stubServer(json(PUBLISHED))];
    const profiles = {
      first: { url: server.url, key: 'key-3' },
      second: { url: 'http://127.0.0.1:2', writeUrl: other.url, key: 'key-4' },
    };
    await writeConfig({ default: 'first', profiles });
    expect(await keyOf(server, publish({}))).toBe('Bearer key-3');
    expect(await keyOf(other, publish({}, '--profile', 'second'))).toBe('Bearer key-4');
    expect(server.seen).toHaveLength(2);
    const another = { TIDEMARK_URL: 'http://127.0.0.1:2', TIDEMARK_KEY: 'key-1' };
    expect(await keyOf(server, publish(another, '--profile', 'first'))).toBe('Bearer key-3');
    expect(server.seen.map(({ headers }) => headers.authorization)).not.toContain('Bearer key-1');
  });

  test('the server of the data folder', async () => {
    const server = await stubServer(json(PUBLISHED));
    const data = join(folder, 'data');
    await mkdir(data, { mode: 0o700 });
    await writeFile(join(data, 'operator-key'), 'key-5\n', { mode: 0o600 });
    const openControl = async () => {
      const opened = createServer((_, response) => response.end(server.url));
      await once(opened.listen(join(data, 'control.sock')), 'listening');
      return opened;
    };
    const control = await openControl();
    expect(await keyOf(server, publish({}, '--data', data))).toBe('Bearer key-5');
    // Killed: somebody else may have the port.
    control.close();
    control.closeAllConnections();
    await once(control, 'close');
    const seen = server.seen.length;
    const { code, errors } = await publish({}, '--data', data);
    expect([code, errors]).toEqual([5, expect.stringContaining(`No server runs in ${data}`)]);
    expect(server.seen).toHaveLength(seen);
    // It is started again while the command waits.
    const words = ['publish', '--all', '--data', data, '--patience', '60', '--config', config];
    const child = spawnTidemark(words, { environment: { TIDEMARK_CONFIG: config } });
    const [told] = (await once(child.stderr as EventEmitter, 'data')) as [Buffer];
    expect(told.toString()).toContain('Waiting for one, up to 60 s.');
    const again = await openControl();
    onTestFinished(() => void again.close());
    expect(await finished(child)).toMatchObject({ code: 0, output: expect.stringContaining('published') });
  });
});

describe('a data folder without a server is refused, and no other service is asked:', () => {
  test.each([
    ['publish', '--all'],
    ['markets', 'list'],
    ['markets', 'history', 'gold-usd'],
    ['status'],
    ['verify'],
    ['verify', '--log'],
    ['receipt', 'gold-usd'],
    ['audit', 'search'],
    ['sources', 'list'],
  ])('%s %s', async (...words) => {
    const other = await stubServer(json(PUBLISHED));
    await writeConfig({ default: 'first', profiles: { first: { url: other.url, key: 'key-3' } } });
    const environment = { TIDEMARK_CONFIG: config };
    const refused = { code: 5, output: '', errors: expect.stringContaining(`No server runs in ${folder}`) };
    const byEnvironment = await tidemarkHere(words, { environment: { ...environment, TIDEMARK_DATA: folder } });
    const byOption = await tidemarkHere([...words, '--data', folder], {
      environment: { ...environment, TIDEMARK_URL: other.url, TIDEMARK_PROFILE: 'first' },
    });
    expect(byEnvironment).toMatchObject(refused);
    expect(byOption).toEqual(byEnvironment);
    expect(other.seen).toEqual([]);
  });
});

describe('a key stays with its URL:', () => {
  test('the key of a profile is not sent to a URL of the command line', async () => {
    const server = await stubServer(json(PUBLISHED));
    await writeConfig({ default: 'first', profiles: { first: { url: 'https://data.example', key: 'key-3' } } });
    expectUsage(await publish({}, '--url', server.url), 'needs a key');
    expect(server.seen).toEqual([]);
  });

  test('it does not travel in clear text to other machines', async () => {
    const run = await publish({ TIDEMARK_URL: 'http://192.0.2.1', TIDEMARK_KEY: 'key-1' });
    expectUsage(run, 'clear text', '--allow-clear-text');
  });
});

describe('refused are', () => {
  test('a configuration that others can read', async () => {
    await writeConfig({ profiles: {} }, 0o640);
    expectUsage(await publish({}), 'can be read by other users', `chmod 600 ${config}`);
  });

  test('a key file that others can read', async () => {
    await writeFile(join(folder, 'key'), 'key');
    await chmod(join(folder, 'key'), 0o644);
    expectUsage(await publish({}, '--url', 'http://127.0.0.1:2', '--key-file', join(folder, 'key')), 'chmod 600');
  });

  test.each<[string, unknown, string]>([
    ['no JSON', '{', 'not JSON'],
    ['an unknown field', { profiles: {}, url: 'x' }, '/url'],
    ['a URL that is none', { profiles: { a: { url: 'data.example' } } }, '/profiles/a/url'],
    [
      'a default that does not exist',
      { default: 'b', profiles: { a: { url: 'https://a.example' } } },
      'The file has: a',
    ],
    ['a name that every object has', { default: 'constructor', profiles: {} }, 'constructor'],
  ])('a configuration with %s', async (_, content, part) => {
    await writeConfig(content);
    expectUsage(await publish({}), part);
  });

  test.each<[readonly string[], string]>([
    [['no-such-command'], 'unknown command'],
    [['publish'], '--all'],
    [['publish', 'gold', '--all'], '--all'],
    [['status', '--url', 'data.example'], 'base URL'],
    [['status', '--timeout', '-1'], 'number of seconds'],
    [['markets', 'history', 'gold', '--csv', '--ndjson'], 'cannot be used'],
    [['verify', '--share', '3/3'], 'smaller'],
    [['markets', 'history', 'gold', '--as-of', '2026-11-01'], 'T00:00:00Z'],
    [['markets', 'show', 'gold', '--as-of', '2026-02-30T00:00:00Z'], 'not a moment'],
    [['markets', 'show', 'gold', '--as-of', '2026-02-28T24:00:00Z'], 'not a moment'],
    [['token', '--user', 'alice', '--hours', '25'], '1 to 24'],
    [['token', '--user', 'alice', '--scopes', 'all'], 'no scope'],
    [['repair'], 'slug'],
    [['start', 'now'], 'too many arguments'],
    [['start', '--port', '99999'], '65535'],
    [['start', '--no-sample', '--sample', 'models'], '--no-sample'],
    [['run', 'nosuch.csv'], 'no file'],
    [['publish', '--all', '--url', 'http://127.0.0.1:2'], 'TIDEMARK_KEY'],
  ])('the words %j', async (words, part) => {
    // A server ends its process.
    expectUsage(await (words[0] === 'start' ? tidemark : tidemarkHere)(words), part);
  });

  test.each([
    [{ PORT: '99999' }, '65535'],
    [{ TIDEMARK_LOG: 'xml' }, 'json'],
    [{ TIDEMARK_LOG_KEY: 'a', TIDEMARK_LOG_KEY_FILE: 'b' }, 'unset'],
  ])('settings of a server: %j', async (environment, part) => {
    expectUsage(await tidemark(['start'], { environment }), part);
  });
});

describe('--help', () => {
  test.each([[[]], [['markets', 'history']], [['start']], [['publish']]])(
    'of %j has an example, and ends with 0',
    async (words) => {
      const { code, output, errors } = await tidemarkHere([...words, '--help']);
      expect([code, errors]).toEqual([0, '']);
      expect(output).toMatch(/Examples?:\n {2}tidemark /);
    },
  );

  test('every command has a description and an example, and shows first what it needs', async () => {
    const { createProgram } = await import('../../cli/program/program.ts');
    const leaves = (function* walk(command: Command): Generator<Command> {
      if (command.commands.length === 0) yield command;
      for (const child of command.commands) yield* walk(child);
    })(await createProgram());
    for (const command of leaves) {
      for (const { flags, mandatory } of command.options)
        if (mandatory) expect(command.helpInformation().split('\n')[0]).toContain(flags);
      expect(command.description(), command.name()).not.toBe('');
      expect((command as unknown as EventEmitter).listenerCount('afterHelp'), command.name()).toBe(1);
    }
  });
});
