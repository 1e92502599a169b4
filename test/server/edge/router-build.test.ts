import { readFile } from 'node:fs/promises';
import { createContext, runInContext } from 'node:vm';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { EMBED_HEADERS, PAGE_CONTENT_TYPE, PAGE_HEADERS } from '../../../contract/files/page-headers.ts';
import { PROBLEM_CONTENT_TYPE } from '../../../contract/problems/edge-problems.ts';
import { handler } from '../../../infra/edge/router.ts';
import { viewerEvent } from '../../../infra/edge/viewer-event.ts';
import {
  buildEdgeFunction,
  buildPagesFunction,
  EDGE_FUNCTIONS,
  edgeFunctionFile,
  FUNCTION_LANGUAGE,
  FUNCTION_MAX_BYTES,
  PAGES_FUNCTION_FILE,
} from '../../../tools/build/build-router.ts';

let built = '';
let response = '';

beforeAll(async () => {
  built = await readFile(edgeFunctionFile('router'), 'utf8');
  response = await readFile(edgeFunctionFile('response'), 'utf8');
});

test('the function of Cloudflare Pages is committed as its source builds it', async () => {
  expect(await readFile(PAGES_FUNCTION_FILE, 'utf8')).toBe(await buildPagesFunction());
});

describe.each(EDGE_FUNCTIONS)('the function %s', (name) => {
  test('is committed as its source builds it', async () => {
    expect(await readFile(edgeFunctionFile(name), 'utf8')).toBe(await buildEdgeFunction(name));
  });

  test('fits into a CloudFront function', async () => {
    expect(Buffer.byteLength(await buildEdgeFunction(name))).toBeLessThanOrEqual(FUNCTION_MAX_BYTES);
  });

  test('has nothing that esbuild would rewrite', async () => {
    const committed = await readFile(edgeFunctionFile(name), 'utf8');
    const { code } = await transform(committed, FUNCTION_LANGUAGE);
    expect(committed.endsWith(code)).toBe(true);
    expect(code).toContain('function handler(event)');
  });
});

/** The builtins of its runtime: those of ES5.1, and later ones that AWS lists. */
const BUILTINS = new Set(
  (
    'Object Function Array String Boolean Number Date RegExp Error EvalError RangeError ReferenceError SyntaxError ' +
    'TypeError URIError Math JSON parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI ' +
    'encodeURIComponent escape unescape NaN Infinity undefined globalThis Promise'
  ).split(' '),
);
/** Later methods that its runtime has, by the object that has them. */
const LATER_METHODS: Record<string, readonly string[]> = {
  Object: ['assign', 'entries', 'values'],
  'Array.prototype': ['find', 'includes'],
  'String.prototype': ['includes', 'startsWith', 'endsWith', 'padStart', 'replaceAll'],
};
const ES5_METHODS: Record<string, readonly string[]> = {
  Object: (
    'length name prototype keys create defineProperty defineProperties freeze getOwnPropertyDescriptor ' +
    'getOwnPropertyNames getPrototypeOf isExtensible isFrozen isSealed preventExtensions seal'
  ).split(' '),
  'Array.prototype': (
    'constructor length concat every filter forEach indexOf join lastIndexOf map pop push reduce reduceRight reverse ' +
    'shift slice some sort splice toLocaleString toString unshift'
  ).split(' '),
  'String.prototype': (
    'constructor length charAt charCodeAt concat indexOf lastIndexOf localeCompare match replace search slice split ' +
    'substr substring toLocaleLowerCase toLocaleUpperCase toLowerCase toString toUpperCase trim valueOf'
  ).split(' '),
};

/** A context whose globals are cut down to the lists above. */
function bareContext(): object {
  const context = createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
  const names = runInContext('Object.getOwnPropertyNames(globalThis)', context) as string[];
  for (const name of names) {
    if (!BUILTINS.has(name)) runInContext(`delete globalThis[${JSON.stringify(name)}]`, context);
  }
  for (const [owner, later] of Object.entries(LATER_METHODS)) {
    const kept = new Set([...later, ...(ES5_METHODS[owner] as readonly string[])]);
    for (const name of runInContext(`Object.getOwnPropertyNames(${owner})`, context) as string[]) {
      if (!kept.has(name)) runInContext(`delete ${owner}[${JSON.stringify(name)}]`, context);
    }
  }
  return context;
}

describe('in a context with no builtins but those of its runtime', () => {
  test.each([
    ['GET', '/api/v1/markets'],
    ['HEAD', '/api/v1/markets/gold-usd'],
    ['GET', `/api/v1/markets?cursor=7-${'0'.repeat(32)}`],
    ['GET', '/api/v1/markets?cursor=x'],
    ['GET', '/api/v1/markets?x=1'],
    ['GET', '/nowhere'],
    ['GET', '/api/v1/latest/all.csv'],
    ['GET', '/api/v1/log/tile/0/x001/234.p/7'],
    ['GET', '/api/v1/markets/gold-usd/history/2024.csv'],
    ['GET', '/'],
    ['GET', '/docs?utm_source=x'],
    ['GET', '/api/v1/markets/gold%2Dus%64'],
    ['GET', `/${'a'.repeat(3000)}`],
    ['OPTIONS', '/api/v1/markets'],
    ['DELETE', '/api/v1/markets'],
  ])('%s %.60s is routed as by the source', (method, url) => {
    const event = JSON.stringify(viewerEvent(method, url));
    const answered = runInContext(`${built}\nJSON.stringify(handler(${event}));`, bareContext());
    expect(JSON.parse(answered)).toEqual(JSON.parse(JSON.stringify(handler(JSON.parse(event)))));
  });
});

describe('the function of responses', () => {
  const answered = (answer: object, uri = '/') => {
    const event = JSON.stringify({ request: { uri }, response: answer });
    return JSON.parse(runInContext(`${response}\nJSON.stringify(handler(${event}));`, bareContext()));
  };
  const answerOf = (statusCode: number, contentType?: string) => ({
    statusCode,
    statusDescription: 'OK',
    headers: {
      etag: { value: '"1"' },
      ...(contentType === undefined ? {} : { 'content-type': { value: contentType } }),
    },
  });

  test.each([
    [200, '/', PAGE_HEADERS],
    [206, '/markets/embed', PAGE_HEADERS],
    [304, '/index.html', PAGE_HEADERS],
    [200, '/embed/gold-usd', EMBED_HEADERS],
    [200, '/embed/gold-usd.html', EMBED_HEADERS],
  ])('gives a page (%i) at %s its security headers, and only those', (status, uri, fields) => {
    const { headers, ...rest } = answered(answerOf(status, PAGE_CONTENT_TYPE), uri);
    const added = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { value }]));
    expect(rest).toEqual({ statusCode: status, statusDescription: 'OK' });
    expect(headers).toEqual({ ...answerOf(200, PAGE_CONTENT_TYPE).headers, ...added });
  });

  test('makes a stored problem document 410, and leaves its fields alone', () => {
    const answer = answerOf(200, PROBLEM_CONTENT_TYPE);
    expect(answered(answer)).toEqual({ ...answer, statusCode: 410, statusDescription: 'Gone' });
  });

  test.each([204, 206, 301, 304, 404])('leaves %i as it is, with and without a content type', (status) => {
    for (const answer of [answerOf(status, PROBLEM_CONTENT_TYPE), answerOf(status)]) {
      expect(answered(answer)).toEqual(answer);
    }
  });
});
