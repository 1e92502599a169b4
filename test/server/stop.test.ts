/** SIGTERM as senders of writes see it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { type ServerProcess, startServerForTest } from './server-process.ts';

const BODY = JSON.stringify({ name: 'Metals' });

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request whose body is yet to be written. */
function begin(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): { readonly sent: ClientRequest; readonly promise: Promise<Reply> } {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(url, { method, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    response.on('error', reject);
  });
  sent.on('error', reject);
  return { sent, promise };
}

/** A service, and a write whose body it has asked for and not got. */
async function withHeldWrite(): Promise<{
  server: ServerProcess;
  settings: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  sent: ClientRequest;
  answer: ReturnType<typeof begin>['promise'];
}> {
  const folder = join(await temporaryFolder(), 'data');
  const settings = { TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'no' };
  const server = startServerForTest(settings);
  const baseUrl = await server.started;
  const headers = {
    authorization: `Bearer ${(await readFile(join(folder, 'operator-key'), 'utf8')).trim()}`,
    'content-type': 'application/json',
    'idempotency-key': 'held-while-it-stops',
  };
  const more = { 'content-length': String(BODY.length), expect: '100-continue' };
  const { sent, promise } = begin('POST', `${baseUrl}/api/v1/watchlists`, { ...headers, ...more });
  promise.catch(() => {});
  sent.flushHeaders();
  await once(sent, 'continue');
  server.child.kill('SIGTERM');
  await expect.poll(() => isListening(baseUrl)).toBe(false);
  return { server, settings, headers, sent, answer: promise };
}

test('a write that is being sent is answered, and is there after the next start', async () => {
  const { server, settings, headers, sent, answer } = await withHeldWrite();
  sent.end(BODY);
  const { status, headers: fields, text } = await answer;
  expect([status, fields.connection]).toEqual([201, 'close']);
  expect(await server.ended).toBe(0);
  expect(server.errors()).toBe('');

  const next = await startServerForTest(settings).started;
  const again = begin('POST', `${next}/api/v1/watchlists`, headers);
  again.sent.end(BODY);
  expect(await again.promise).toMatchObject({ status: 201, text, headers: { 'idempotency-replayed': 'true' } });
});

test('a second signal ends the process at once', async () => {
  const { server } = await withHeldWrite();
  // One that comes within a second is taken for the same.
  await sleep(1_100);
  expect(await server.end('SIGTERM')).toBe(143);
});

function isListening(baseUrl: string): Promise<boolean> {
  const { port, hostname } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

test('a server ends when npx is stopped, although npx tells only its shell', async () => {
  const { PATH = '' } = process.env;
  const settings = { TIDEMARK_DATA: join(await temporaryFolder(), 'data'), TIDEMARK_SAMPLE: 'no', PORT: '0' };
  const cwd = join(import.meta.dirname, '../..');
  const npx = spawn('npx', ['--no-install', 'tidemark', 'start'], { cwd, env: { PATH, ...settings }, detached: true });
  onTestFinished(() => killGroup(npx.pid as number));
  // Of the server too, which has the same output.
  const closed = once(npx, 'close');
  let output = '';
  npx.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  await expect.poll(() => output, { timeout: 60_000 }).toContain('curl -i');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) npx.kill(signal);
  await closed;
});

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

test('a process that cli/tidemark.mjs has started ends when that one is killed', async () => {
  const main = join(import.meta.dirname, '../../cli/main.ts');
  // It waits for its input.
  const child = spawn(process.execPath, [main, 'mapping', 'init', '-'], { stdio: ['pipe', 'ignore', 'ignore', 'ipc'] });
  const ended = once(child, 'exit');
  await once(child, 'spawn');
  // The channel of a killed process is closed by the system.
  child.disconnect();
  expect(await ended).toEqual([null, 'SIGKILL']);
});
