/**
 * Prism as a validating proxy between the scenario and what `npm start` starts: it lets through only requests and answers
 * that are valid by docs/openapi.json.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../tools/bench/free-port.ts';
import { OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { type RunningEngine, serve } from '../aws/engines/engine.ts';
import { listeningForTest } from '../listening.ts';
import { STEPS } from '../scenario/scenario.ts';
import { type Exchange, openSession, type Session } from '../scenario/session.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
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
  const server = sampleServerForAll();
  let prism: RunningEngine;
  let session: Session;
  let failed: string | null = null;
  let judged = 0;
  /** The faults of requests that the scenario makes on purpose. */
  const faults = new Map<string, number>();

  beforeAll(async () => {
    if (!existsSync(CLI)) return;
    const { url: baseUrl, key: operatorKey } = server;
    prism = await startPrism(baseUrl);
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

  afterAll(() => prism?.stop());

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

test('Prism refuses an answer with a planted fault', async () => {
  const { paths } = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'));
  const content = paths['/api/v1/markets/{slug}'].get.responses['200'].content['application/json'];
  const { unit: _, ...faulty } = content.example;
  const headers = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'ETag' };
  const upstream = createServer((_, response) => {
    response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(faulty));
  });
  const prism = await startPrism(await listeningForTest(upstream));
  onTestFinished(() => prism.stop());
  expect(await faultOf(await fetch(`${prism.endpoint}/api/v1/markets/gold-usd`))).toBe('VIOLATIONS');
});
