/** The parts of the Lambda entries: environment, stream trigger, secret, log. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { fetchSecretText, masterSecretOf } from '../../lambdas/entry/deployment-secret.ts';
import { MASTER_SECRET_BYTES } from '../../lambdas/pipeline/secrets.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { confirmFindings } from '../../publisher/verify/confirm-findings.ts';
import {
  boundedReader,
  httpReader,
  UpstreamInvalid,
  UpstreamUnavailable,
} from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { ALL_MARKETS, isInShare } from '../../publisher/verify/reading/share.ts';
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import { ENVIRONMENT } from '../../storage/aws/names.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { faultText } from '../../storage/ports/fault-text.ts';
import { createWorld, market, readerOf } from '../publisher/world.ts';

describe('the environment of a function', () => {
  test.each([undefined, ''])('is refused without a required variable: %j', (value) => {
    const variables = { [ENVIRONMENT.tableName]: value };
    expect(() => readLambdaEnvironment(variables, { required: ['tableName'] })).toThrow(TypeError);
    expect(readLambdaEnvironment(variables, { required: [], optional: ['tableName'] })).toEqual({});
  });

  test('is refused for everything that is missing at once', () => {
    const read = () => readLambdaEnvironment({}, { required: ['tableName', 'issuer'] });
    expect(read).toThrow(ENVIRONMENT.tableName);
    expect(read).toThrow(ENVIRONMENT.issuer);
  });
});

describe('the secret of a deployment', () => {
  const TEXT = 'x'.repeat(43);

  test('becomes as many bytes as a master secret has, the same for the same text', () => {
    expect(masterSecretOf(TEXT)).toHaveLength(MASTER_SECRET_BYTES);
    expect(masterSecretOf(TEXT)).toEqual(masterSecretOf(TEXT));
    expect(masterSecretOf(TEXT)).not.toEqual(masterSecretOf(`${TEXT}y`));
  });

  test.each([undefined, '', 'x'.repeat(42)])('is refused when it could be guessed: %j', async (SecretString) => {
    const client = { send: async () => ({ SecretString }) };
    await expect(fetchSecretText(client as never, 'arn')).rejects.toThrow(TypeError);
  });
});

describe('a value that is made once', () => {
  test('is shared by all callers, and made again after a failure', async () => {
    const make = vi.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('first')).mockResolvedValue('made');
    const get = retriedOnce(make);
    const both = await Promise.allSettled([get(), get()]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await Promise.all([get(), get()])).toEqual(['made', 'made']);
    expect(make).toHaveBeenCalledTimes(2);
  });
});

describe('a log line', () => {
  function logged(write: () => void): string {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    write();
    spy.mockRestore();
    return lines.join('');
  }

  test('is one object on one line, without anything that looks like a credential', () => {
    const line = logged(() =>
      logLine('error', 'failed', { fault: 'Bearer abc"d\nef tdm_live_0123 eyJhbGciOi.e30.c2ln\n' }),
    );
    expect(line.trimEnd()).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({ level: 'error', what: 'failed', time: expect.stringMatching(/Z$/) });
    expect(line).not.toMatch(/tdm_live|eyJhb|abc/);
  });

  test('of a fault has its causes, for any thrown value', () => {
    expect(faultText(new Error('outer', { cause: new Error('inner') }))).toMatch(/outer.*inner/s);
    expect(faultText('text')).toBe('text');
  });
});

describe('reading over HTTP', () => {
  /** A server that breaks so many connections first, before its answer or within it. */
  async function brokenServer(times: number, isWithin: boolean, status: number) {
    let requests = 0;
    const server = createServer((_, response) => {
      if (++requests > times) return response.writeHead(status).end('the body');
      if (!isWithin) return response.socket?.resetAndDestroy();
      response.writeHead(200, { 'content-length': '8' }).write('the', () => response.socket?.resetAndDestroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
  }

  test.each<[string, number, boolean, number]>([
    ['one that breaks twice before its answer', 2, false, 200],
    ['one that breaks twice within its answer', 2, true, 200],
    ['one that breaks once, and is then answered with an error', 1, false, 503],
    ['one that is answered with an error', 0, false, 503],
  ])('tries a connection again, and takes any answer: %s', async (_, times, isWithin, status) => {
    const server = await brokenServer(times, isWithin, status);
    const { status: answered, body } = await httpReader(server.url)('/api/v1/snapshot');
    expect([answered, Buffer.from(body).toString()]).toEqual([status, 'the body']);
    expect(server.requests()).toBe(times + 1);
  });

  test.each([false, true])('gives up after three connections: broken within the answer %s', async (isWithin) => {
    const server = await brokenServer(99, isWithin, 200);
    await expect(httpReader(server.url)('/api/v1/snapshot')).rejects.toThrow(UpstreamUnavailable);
    expect(server.requests()).toBe(3);
  });

  test.each([429, 500])('%i is no answer for a mirror', async (status) => {
    const server = await brokenServer(0, false, status);
    await expect(boundedReader(new URL(server.url))('/api/v1/snapshot')).rejects.toThrow(UpstreamUnavailable);
  });

  test('does not follow an answer elsewhere, nor ask for it again', async () => {
    const server = await brokenServer(0, false, 302);
    await expect(httpReader(server.url)('/api/v1/snapshot')).rejects.toThrow(UpstreamInvalid);
    expect(server.requests()).toBe(1);
  });
});

describe('findings through a cache', () => {
  async function publishedReader(): Promise<PublicReader> {
    const world = createWorld(DEFAULT_PAGE_SIZES);
    await world.ingest([market('a')]);
    await publish(world.dependencies);
    return readerOf(world.objects);
  }

  /** Answers 503 for this path, a given number of times. */
  function failing(reader: PublicReader, path: string, times: number): PublicReader {
    let left = times;
    return async (url, headers) =>
      url === path && left-- > 0 ? { status: 503, headers: new Map(), body: new Uint8Array() } : reader(url, headers);
  }

  test.each<[string, number, boolean, number, number]>([
    ['none', 0, true, 0, 0],
    ['one that is gone at the second look', 1, true, 1, 0],
    ['one that stays', 99, true, 1, 1],
    ['a finding without time for a second look', 1, false, 1, 1],
  ])('%s', async (_, times, hasTime, pauses, findings) => {
    const pause = vi.fn(async () => hasTime);
    const reader = failing(await publishedReader(), '/api/v1/markets/a', times);
    const report = await confirmFindings(reader, { share: ALL_MARKETS }, pause);
    expect(pause).toHaveBeenCalledTimes(pauses);
    expect(new Set(report.findings.map(({ url }) => url)).size).toBe(findings);
  });

  test('are of one share, both times', async () => {
    const read: string[] = [];
    const reader = failing(await publishedReader(), '/api/v1/snapshot', 99);
    const reading: PublicReader = (url, headers) => {
      // Conditional requests are not of the walk.
      if (headers === undefined) read.push(url);
      return reader(url, headers);
    };
    const of = 2;
    const index = isInShare('a', { index: 0, of }) ? 1 : 0;
    expect((await confirmFindings(reading, { share: { index, of } }, async () => true)).findings).toHaveLength(1);
    // Each walk reads it first and last.
    expect(read.filter((url) => url === '/api/v1/snapshot')).toHaveLength(4);
    expect(read).not.toContain('/api/v1/markets/a');
  });
});
