/**
 * Prism as a validating proxy between the scenario and what `npm start` starts: it lets through only requests and answers
 * that are valid by docs/openapi.json.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../tools/bench/free-port.ts';
import { OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { type RunningEngine, serve } from '../aws/engines/engine.ts';
import { STEPS } from '../scenario/scenario.ts';
import { type Exchange, openSession, type Session } from '../scenario/session.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { copySample } from '../server/taken-in-sample.ts';
import { folderForAll } from '../storage/temporary-folder.ts';
import { toolFolder } from './tool-folder.ts';

const CLI = join(toolFolder('npm-tools'), 'node_modules/@stoplight/prism-cli/dist/index.js');

/** The `type` of problems that Prism makes itself, up to their names. */
const OWN_PROBLEM = 'https://stoplight.io/prism/errors#';

/** Implied by GET and by the CORS protocol; no OpenAPI document lists them. */
const UNLISTED_METHODS = ['HEAD', 'OPTIONS'];

/** Prism's names for a request that the document does not allow, and for an answer that it does not allow. */
const REQUEST_FAULTS = ['NO_PATH_MATCHED_ERROR', 'NO_METHOD_MATCHED_ERROR', 'UNPROCESSABLE_ENTITY', 'UNAUTHORIZED'];

async function startPrism(upstream: string): Promise<RunningEngine> {
  const port = await freePort();
  const options = ['--errors', '--cors=false', '--port', String(port), '--verboseLevel', 'silent'];
  return serve(port, process.execPath, [CLI, 'proxy', OPENAPI_FILE, upstream, ...options]);
}

/** The name of Prism's own problem, or null for an answer from upstream. */
async function faultOf(answer: Response): Promise<string | null> {
  if (answer.status < 400) return null;
  const { type = '' } = (await answer.clone().json()) as { type?: string };
  return type.startsWith(OWN_PROBLEM) ? type.slice(OWN_PROBLEM.length) : null;
}

describe('the scenario through Prism', () => {
  const temporary = folderForAll();
  let server: ServerProcess;
  let prism: RunningEngine;
  let session: Session;
  let failed: string | null = null;
  let judged = 0;
  /** The faults of requests that the scenario makes on purpose. */
  const faults = new Map<string, number>();

  beforeAll(async () => {
    if (!existsSync(CLI)) return;
    await copySample(temporary.folder);
    server = startServer({ TIDEMARK_DATA: temporary.folder });
    const baseUrl = await server.started;
    prism = await startPrism(baseUrl);
    const operatorKey = (await readFile(join(temporary.folder, 'operator-key'), 'utf8')).trim();
    /** Where Prism refuses a request, the server must refuse it too. An answer that Prism refuses is a failure. */
    const throughPrism: Exchange = async (url, request) => {
      if (UNLISTED_METHODS.includes(request.method)) return fetch(url, request);
      const answer = await fetch(url.replace(baseUrl, prism.endpoint), request);
      const fault = await faultOf(answer);
      judged++;
      if (fault === null) return answer;
      assert.ok(REQUEST_FAULTS.includes(fault), `${request.method} ${url}: ${await answer.text()}`);
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
      const direct = await fetch(url, request);
      assert.ok(direct.status >= 400, `Prism refuses ${request.method} ${url}, the server does not: ${fault}`);
      return direct;
    };
    session = openSession({ readBaseUrl: baseUrl, writeBaseUrl: baseUrl, operatorKey }, throughPrism);
  });

  afterAll(async () => {
    await prism?.stop();
    await server?.end('SIGKILL');
  });

  test.each(STEPS)('$says', async ({ says, run }) => {
    if (failed !== null) throw new Error(`not run, because this has failed: ${failed}`);
    failed = says;
    await run(session);
    failed = null;
  });

  test('most requests were judged, and the wrong ones were refused by both', () => {
    const wrong = [...faults.values()].reduce((sum, count) => sum + count, 0);
    expect([...faults.keys()].sort()).toEqual(['NO_PATH_MATCHED_ERROR', 'UNAUTHORIZED', 'UNPROCESSABLE_ENTITY']);
    expect(judged).toBeGreaterThan(20 * wrong);
  });
});

describe('Prism refuses', () => {
  const market = '/api/v1/markets/gold-usd';
  const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag' };
  let upstream: Server;
  let prism: RunningEngine;
  let requests = 0;
  let body: unknown;

  beforeAll(async () => {
    if (!existsSync(CLI)) return;
    upstream = createServer((_, response) => {
      requests++;
      response.writeHead(200, { ...cors, 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    prism = await startPrism(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`);
  });

  afterAll(async () => {
    await prism?.stop();
    upstream?.close();
  });

  const example = async () => {
    const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'));
    return paths['/api/v1/markets/{slug}'].get.responses['200'].content['application/json'].example;
  };

  test('no answer that the document allows', async () => {
    body = await example();
    const answer = await fetch(prism.endpoint + market);
    expect([answer.status, await answer.json()]).toEqual([200, body]);
  });

  test('an answer with a planted fault', async () => {
    const { unit: _, ...rest } = await example();
    body = rest;
    expect(await faultOf(await fetch(prism.endpoint + market))).toBe('VIOLATIONS');
  });

  test('a request with a planted fault, before the server sees it', async () => {
    const before = requests;
    const headers = {
      authorization: 'Bearer tdm_live_x',
      'idempotency-key': 'a-planted-fault-1',
      'content-type': 'application/json',
    };
    const answer = await fetch(`${prism.endpoint}/api/v1/watchlists`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 7, markets: [] }),
    });
    expect(await faultOf(answer)).toBe('UNPROCESSABLE_ENTITY');
    expect(requests).toBe(before);
  });
});
