/** The log of the embedded server: its formats, and its lines from a real process. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LogFields, openLog, readLogFormat } from '../../server/service/log.ts';
import { SettingError } from '../../server/service/start-error.ts';
import { market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { senderTo } from './sender.ts';
import { startServerForTest } from './server-process.ts';

const KEY = 'tdm_dev_0123456789_secret';

function written(format: Parameters<typeof openLog>[0]) {
  const lines = { output: '', errors: '' };
  const into = (name: keyof typeof lines) => ({
    write: (text: string | Uint8Array) => {
      lines[name] += text;
      return true;
    },
  });
  const log = openLog(format, { output: into('output'), errors: into('errors'), nowMs: () => 0 });
  return { log, lines };
}

describe('a line', () => {
  test.each<[string, LogFields, string]>([
    ['numbers and words', { id: 'bat_1', accepted: 3 }, 'batch id=bat_1 accepted=3'],
    ['an address', { address: 'http://127.0.0.1:8787' }, 'batch address=http://127.0.0.1:8787'],
    ['other characters', { text: 'a "b"=c' }, 'batch text="a \\"b\\"=c"'],
    ['a line break', { text: 'a\nb\u2028c' }, 'batch text="a\\nb c"'],
    ['null', { id: null }, 'batch id=null'],
    ['a credential', { text: KEY }, 'batch text=[redacted]'],
  ])('as text, with %s', (_, fields, expected) => {
    const { log, lines } = written('text');
    log.info('batch', fields);
    expect(lines).toEqual({ output: `1970-01-01T00:00:00.000Z ${expected}\n`, errors: '' });
  });

  test('as JSON', () => {
    const { log, lines } = written('json');
    log.info('batch', { id: 'bat_1', accepted: 3, text: `a\n${KEY}` });
    expect(lines.output.endsWith('}\n')).toBe(true);
    expect(JSON.parse(lines.output)).toEqual({
      level: 'info',
      time: '1970-01-01T00:00:00.000Z',
      what: 'batch',
      id: 'bat_1',
      accepted: 3,
      text: 'a\n[redacted]',
    });
  });

  test('of a fault goes to the error stream, on one line', () => {
    const { log, lines } = written('text');
    log.fault('publishing failed', new Error(`no\ndisk for alice@bank.example, ${KEY}`));
    expect(lines.errors).toBe('1970-01-01T00:00:00.000Z publishing failed: no disk for [redacted], [redacted]\n');
    const asJson = written('json');
    asJson.log.fault('publishing failed', new Error('no\ndisk'));
    expect(JSON.parse(asJson.lines.errors)).toMatchObject({
      level: 'error',
      what: 'publishing failed',
      cause: 'no\ndisk',
    });
    expect([lines.output, asJson.lines.output]).toEqual(['', '']);
  });

  test('is left out when quiet, unless it is a fault', () => {
    const { log, lines } = written('quiet');
    log.info('batch', { id: 'bat_1' });
    log.fault('a', 'b');
    expect(lines).toEqual({ output: '', errors: '1970-01-01T00:00:00.000Z a: b\n' });
  });
});

test('the format is one of three; any other is refused', () => {
  expect(['', 'text', 'json', 'quiet'].map((TIDEMARK_LOG) => readLogFormat({ TIDEMARK_LOG }))).toEqual([
    'text',
    'text',
    'json',
    'quiet',
  ]);
  expect(readLogFormat({})).toBe('text');
  expect(() => readLogFormat({ TIDEMARK_LOG: 'JSON' })).toThrow(SettingError);
});

test('a process logs JSON lines only: its start, a batch, an upload, their generations and its end', async () => {
  const data = join(await temporaryFolder(), 'data');
  const server = startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no', TIDEMARK_LOG: 'json' });
  const url = await server.started;
  const key = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
  const post = async (path: string, body: object) => (await senderTo(url, key)('POST', path, body)).json;
  const lines = () =>
    server
      .output()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const lineOf = (what: string) => lines().find((line) => line.what === what);

  const batch = await post('/api/v1/ingest/batches', { records: [market('a'), price('a', 0, 5)] });
  await expect.poll(() => lineOf('generation')).toMatchObject({ level: 'info', marks: 1, deferred: 0 });
  expect(lineOf('started')).toMatchObject({ address: url, generation: 1, markets: 0, observations: 0 });
  expect(lineOf('batch')).toMatchObject({
    id: batch.id,
    state: 'applied',
    accepted: 2,
    unchanged: 0,
    refused: 0,
    markets: 1,
  });

  const file = Buffer.from(`${JSON.stringify(price('a', 1, 6))}\n`);
  const sha256 = createHash('sha256').update(file).digest('hex');
  const upload = await post('/api/v1/ingest/uploads', { bytes: file.length, sha256, records: 1 });
  await fetch(new URL(upload.put.url, url), { method: 'PUT', headers: upload.put.headers, body: file });
  await expect
    .poll(() => lineOf('upload'))
    .toMatchObject({ id: upload.id, state: 'applied', accepted: 1, refused: 0, parts: 1, bytes: file.length });

  expect(await server.end('SIGTERM')).toBe(0);
  expect(lineOf('stopped')).toMatchObject({ signal: 'SIGTERM' });
  expect(server.errors()).toBe('');
  for (const line of lines()) expect(Object.keys(line).slice(0, 3)).toEqual(['level', 'time', 'what']);
  expect(server.output()).not.toContain(key);
});
