/** Commands that read services of others end, whatever such a service answers, and take little of it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import timers from 'node:timers/promises';
import { constants, gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CommandError, EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { createProgram } from '../../cli/program/program.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { publish } from '../../publisher/publish.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { serveReader } from '../publisher/verify/serve-reader.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

/** The second walk of `verify` comes 16 seconds after the first: here at once, also for modules that other files have loaded. */
const { setTimeout: sleep } = timers;
const setSleep = (to: typeof sleep) => {
  timers.setTimeout = to;
  syncBuiltinESMExports();
};

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** What a hostile service does with a right answer. */
type Attack = (answer: Answer, response: ServerResponse, request: IncomingMessage) => void;

const PIECE = Buffer.alloc(64 * 1024, ' ');

/** 4 MB a time. After a full flush, what follows the header may be repeated. */
const BOMB = gzipSync(Buffer.alloc(4 * 1024 * 1024, ' '), { finishFlush: constants.Z_FULL_FLUSH });
const GZIP_HEADER_BYTES = 10;

/** As fast as the reader takes it, until the connection ends. */
function pour(piece: Buffer, response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

const endless: Attack = ({ status, headers, body }, response) => {
  response.writeHead(status, headers).write(body);
  pour(PIECE, response);
};

const bomb: Attack = ({ status, headers }, response) => {
  response.writeHead(status, { ...headers, 'content-encoding': 'gzip' }).write(BOMB);
  pour(BOMB.subarray(GZIP_HEADER_BYTES), response);
};

const drip: Attack = ({ status, headers }, response) => {
  response.writeHead(status, headers);
  const timer = setInterval(() => response.write(' '), 50);
  response.once('close', () => clearInterval(timer));
};

/** The first page again and again, with a cursor. */
function withCursor(cursorOf: () => string): Attack {
  return ({ status, headers, body }, response, { url: asked = '' }) => {
    const text = Buffer.from(body).toString('utf8');
    const cursor = cursorOf();
    const folder = asked.includes('/pages/') ? '' : `${asked.replace(/^.*\/|\?.*|\.json$/g, '')}/pages/`;
    const links = `"next":"${folder}${cursor}.json","nextCursor":"${cursor}"`;
    const page = text.replace('"next":null,"nextCursor":null', links);
    response.writeHead(status, headers).end(page);
  };
}

let cursors = 0;
const ATTACKS: Readonly<Record<string, Attack>> = {
  'a body without an end': endless,
  'a gzip bomb': bomb,
  'a byte now and then': drip,
  'a cursor that leads back': withCursor(() => `1-${'a'.repeat(32)}`),
  'cursors without an end': withCursor(() => `1-${String(++cursors).padStart(32, '0')}`),
};

const COMMANDS: readonly string[] = [
  'verify URL',
  'verify URL --log',
  'markets list --url URL',
  'markets show a --url URL',
  'markets show a --as-of 2026-02-01T00:00:00Z --url URL',
  'markets history a --url URL',
  'markets history a --csv --url URL',
  'markets history a --versions --ndjson --url URL',
  'status --url URL',
  'receipt a --observed-at 2026-01-01T00:00:00Z --url URL',
  'doctor URL',
];

const temporary = folderForAll();
let attack: Attack;
let asked: number;
let url: string;

beforeAll(async () => {
  setSleep((ms, ...rest) => sleep(Math.min(ms ?? 0, 10), ...rest));
  const world = createWorld();
  await world.ingest([market('a'), market('b'), price('a', 0, 4129), price('a', 1, 4130), price('b', 0, 5)]);
  await publish(withLog(world.dependencies));
  const reader = loggedReader(world.objects);
  const server = createServer(async (request, response) => {
    asked++;
    if (request.url === '/healthz') return void response.writeHead(404).end();
    const path = (request.url as string).replace(/\?cursor=.*|\/pages\/[^/]*(?=\.json$)/, '');
    const { status, headers, body } = await reader(path);
    attack({ status, headers: Object.fromEntries(headers), body }, response, request);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return () => {
    setSleep(sleep);
    server.closeAllConnections();
    server.close();
  };
});

beforeEach(() => {
  asked = 0;
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
});

async function exitCodeOf(command: string, ...options: readonly string[]): Promise<number> {
  const words = [...command.replaceAll('URL', url).split(' '), ...options];
  const program = await createProgram(words);
  process.exitCode = 0;
  try {
    await program.parseAsync([...words, '--config', join(temporary.folder, 'config.json')], { from: 'user' });
    return Number(process.exitCode);
  } catch (error) {
    const { exit } = error as CommandError;
    if (exit === undefined) throw error;
    return EXIT_CODES[exit].code;
  } finally {
    process.exitCode = 0;
  }
}

describe.each(Object.entries(ATTACKS))('%s', (name, each) => {
  beforeEach(() => {
    attack = each;
  });

  // Only the drip may be ended by the time that an answer may take; and a bomb for `doctor`, which does not unpack it.
  const secondsFor = (command: string) =>
    each === drip || (each === bomb && command.startsWith('doctor')) ? '0.3' : '600';
  const faults = [EXIT_CODES.findings.code, EXIT_CODES.unreachable.code];
  /** Their answer is one body, or they follow no cursor. */
  const unharmed = name.includes('cursor') ? [0, ...faults] : faults;

  test.each(COMMANDS)('ends %s', async (command) => {
    expect(unharmed).toContain(await exitCodeOf(command, '--patience', '0', '--timeout', secondsFor(command)));
    expect(asked).toBeLessThan(1_000);
  });
});

/** A service that is right, but for some files. */
const but =
  (pattern: RegExp, refusal: number): Attack =>
  ({ status, headers, body }, response, request) => {
    const isOwnTag = request.headers['if-none-match'] === (headers.etag ?? '');
    const instead = pattern.test(request.url as string) ? refusal : isOwnTag ? 304 : status;
    response.writeHead(instead, headers).end(instead === 304 ? '' : body);
  };

test.each<[string, keyof typeof EXIT_CODES, Attack]>([
  ['no conclusive answer if everything is 503', 'unreachable', but(/./, 503)],
  ['no conclusive answer if only some requests are refused as too many', 'unreachable', but(/history|problems/, 429)],
  ['findings if a file is missing', 'findings', but(/problems/, 404)],
])('verify ends with %s', async (_, exit, each) => {
  attack = each;
  for (const command of ['verify URL', 'verify URL --log'])
    expect(await exitCodeOf(command)).toBe(EXIT_CODES[exit].code);
});

test('verify names another version of the renderer once, instead of each file; it stays a finding, and JSON has all', async () => {
  const world = createWorld();
  await world.ingest([market('a'), market('b'), price('a', 0, 4129), price('b', 0, 5)]);
  await publish(withLog(world.dependencies));
  const altered = (from: RegExp, to: string) => (body: Buffer) => Buffer.from(body.toString().replace(from, to));
  for (const slug of ['a', 'b'])
    await world.forge(publicKey({ kind: 'market', slug }), altered(/"kind":"\w+"/, '"kind":"other"'));
  await world.forge(publicKey({ kind: 'openapi' }), altered(/"x-tidemark-renderer":\d+/, '"x-tidemark-renderer":1'));
  const served = await serveReader(loggedReader(world.objects));
  const output = vi.mocked(process.stdout.write).mock.calls;
  const verified = async (...options: readonly string[]) => {
    output.length = 0;
    expect(await exitCodeOf(`verify ${served.url} --log`, ...options)).toBe(EXIT_CODES.findings.code);
    return output.map(([text]) => String(text)).join('');
  };
  const table = await verified();
  expect(table.match(/renders by version 1,/g)).toHaveLength(1);
  expect(table).not.toContain('not-in-log');
  const { findings } = JSON.parse(await verified('--json'));
  expect(findings.map(({ rule }: { readonly rule: string }) => rule)).toEqual(expect.arrayContaining(['not-in-log']));
  expect(findings[0].detail).toContain('renders by version 1,');
  served.close();
});
