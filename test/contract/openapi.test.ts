import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { type ApiServers, openApiDocument } from '../../contract/openapi/openapi.ts';
import { ignoresQuery, problemSchema } from '../../contract/openapi/openapi-problems.ts';
import { claimAssertionSchema } from '../../contract/operations/accounts/claims.ts';
import { ALL_OPERATIONS } from '../../contract/operations/all-operations.ts';
import type { OperationDefinition } from '../../contract/operations/operation.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import type { ProblemCode } from '../../contract/problems/problems.ts';
import { sourceUrlSchema } from '../../contract/values/metric.ts';
import { URL_MAX_LENGTH } from '../../infra/edge/router.ts';
import { routeRead } from '../../server/edge/route.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { buildOpenApi, OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { type Answer, type ApiWorldOptions, type Call, openApiWorld } from '../write-api/world.ts';

const ROWS = Object.entries(ALL_OPERATIONS) as [string, OperationDefinition][];
const WRITE_API = ROWS.filter(([, { scopes }]) => scopes !== null);
const PUBLIC_READS = ROWS.filter(([, { scopes }]) => scopes === null);
const HOSTS: ApiServers = { readServer: 'https://data.tidemark.test', writeServer: 'https://api.tidemark.test' };

// biome-ignore lint/suspicious/noExplicitAny: the document may have any shape.
const document = openApiDocument() as any;
const operationOf = ([, { path, method }]: (typeof ROWS)[number]) => document.paths[path][method.toLowerCase()];

interface Field {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: { readonly const?: unknown };
}

/** Names that say it all; a constant does so too. */
const SELF_EXPLANATORY = [
  'addedAt',
  'createdAt',
  'data',
  'decidedAt',
  'description',
  'id',
  'market',
  'name',
  'page',
  'publishedAt',
  'receivedAt',
  'requestedAt',
  'slug',
  'updatedAt',
];

/** All properties at any depth; `in` is the place. No property may have the name of a JSON Schema keyword. */
function fieldsOf(schema: unknown, place: string): Field[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, inner]) => {
    if (key === 'example' || key === 'examples') return [];
    const deeper = fieldsOf(inner, key === 'properties' ? place : `${place}/${key}`);
    if (key !== 'properties') return deeper;
    const own = Object.entries<Field['schema'] & { description?: string }>(inner);
    return [...own.map(([name, field]) => ({ ...field, in: place, name, schema: field })), ...deeper];
  });
}

describe('the document', () => {
  it('is the one that is committed: npm run build:openapi', () => {
    expect(readFileSync(OPENAPI_FILE, 'utf8')).toBe(buildOpenApi());
  });

  it('has one server where there is one, and else the right one for each operation', () => {
    expect(document.servers).toEqual([{ url: '/', 'x-internal': false }]);
    // biome-ignore lint/suspicious/noExplicitAny: see above.
    const { paths, servers } = openApiDocument(HOSTS) as any;
    expect(servers.map(({ url }: { url: string }) => url)).toEqual([HOSTS.readServer, HOSTS.writeServer]);
    for (const [, { path, method, scopes }] of ROWS) {
      const url = scopes === null ? HOSTS.readServer : HOSTS.writeServer;
      expect(paths[path][method.toLowerCase()].servers).toEqual([{ url }]);
    }
  });

  it('describes every field and parameter beyond its name and type', () => {
    const { schemas } = document.components;
    const operations = Object.values<object>(document.paths).flatMap((item) => Object.values(item));
    const parameters = operations.flatMap(({ operationId, parameters }) =>
      parameters.filter(({ name }: Field) => name !== undefined).map((each: Field) => ({ ...each, in: operationId })),
    );
    const fields = [...parameters, ...fieldsOf(schemas, 'components')];
    expect(fields.length).toBeGreaterThan(200);
    const silent = fields.filter(({ name, description, schema }) => {
      return description === undefined && schema.const === undefined && !SELF_EXPLANATORY.includes(name);
    });
    expect(silent.map((field) => `${field.in}: ${field.name}`)).toEqual([]);
    expect(SELF_EXPLANATORY.filter((word) => !fields.some(({ name }) => name === word))).toEqual([]);
  });
});

/** Every object in the document, except in examples, with its place. */
function* nodesOf(node: unknown, place = ''): Generator<readonly [string, Record<string, unknown>]> {
  if (typeof node !== 'object' || node === null) return;
  if (!Array.isArray(node)) yield [place, node as Record<string, unknown>];
  for (const [name, inner] of Object.entries(node)) {
    if (name !== 'example' && name !== 'examples') yield* nodesOf(inner, `${place}/${name}`);
  }
}

describe('for the tools of other people', () => {
  const nodes = [...nodesOf(document)];
  const placesOf = (isWrong: (node: Record<string, unknown>) => boolean) =>
    nodes.filter(([, node]) => isWrong(node)).map(([place]) => place);

  it('a reference stands alone, so that tools that ignore its neighbours lose nothing', () => {
    expect(placesOf((node) => typeof node.$ref === 'string' && Object.keys(node).length > 1)).toEqual([]);
  });

  it('no schema has the name of a type that generators of clients make', () => {
    const made = ROWS.flatMap(([id]) =>
      ['Response', 'Params', 'Request', 'JSONBody', 'JSONRequestBody'].map((suffix) => `${id}${suffix}`.toLowerCase()),
    );
    expect(Object.keys(document.components.schemas).filter((name) => made.includes(name.toLowerCase()))).toEqual([]);
  });

  it('every answer says that pages of other origins may read it', () => {
    const answers = nodes.filter(([place]) => /\/responses\/[^/]+$/.test(place) && !place.includes('/schema/'));
    const silent = answers.filter(
      ([, { $ref, headers }]) => $ref === undefined && !('Access-Control-Allow-Origin' in (headers as object)),
    );
    expect(answers.length).toBeGreaterThan(100);
    expect(silent.map(([place]) => place)).toEqual([]);
  });

  it.each([
    'https://example.com',
    'HTTP://example.com:80/a%20b?c=d#e@f',
    'https://[::1]/x',
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'ftp://example.com/',
    '/relative',
    'https://',
    'https://example.com/a b',
    'https://example.com/%zz',
    'https://example.com/ü',
    'javascript:alert(1)',
  ])('the pattern of a source URL refuses what is refused, and nothing else: %s', (url) => {
    const { pattern } = document.components.schemas.MoneyMetric.properties.sourceUrl;
    expect(new RegExp(pattern).test(url)).toBe(sourceUrlSchema.safeParse(url).success);
  });
});

describe('the request for an erasure', () => {
  it('does not allow the operator, which is a subject everywhere else', () => {
    const patternsOf = (schema: { pattern?: string; allOf?: { pattern: string }[] }) =>
      [schema.pattern ?? [], ...(schema.allOf ?? []).map(({ pattern }) => pattern)].flat();
    const patterns = patternsOf(document.components.schemas.CreateErasureBody.properties.subject);
    const admits = (subject: string) => patterns.every((pattern) => new RegExp(pattern).test(subject));
    expect(['user:alice', 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A', 'operator', 'jo'].map(admits)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(document.components.schemas.CreateErasureBody.properties.subject.description).not.toContain('operator');
  });
});

/** Rules of the linter that the document does not follow, with the reason. */
const NOT_FOLLOWED = {
  'no-illogical-composition-keywords':
    'a reference with a description is wrapped in an allOf of its own: other tools ignore what is beside a $ref',
  'no-required-schema-properties-undefined':
    'metrics is a map whose price is always there: as a property beside the map, its Go client would not compile',
};

describe('the linter', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-openapi-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each<[string, ApiServers | undefined]>([
    ['one host', undefined],
    ['two hosts', HOSTS],
  ])('has nothing to say of the document for %s', (_, servers) => {
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(openApiDocument(servers)));
    const cli = join(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js');
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      [
        cli,
        'lint',
        file,
        '--extends=recommended',
        ...Object.keys(NOT_FOLLOWED).map((rule) => `--skip-rule=${rule}`),
        '--format=json',
      ],
      { cwd: folder, env: { ...process.env, ...OFFLINE }, encoding: 'utf8' },
    );
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    const { totals, problems } = JSON.parse(stdout);
    expect(problems).toEqual([]);
    expect(totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_NOTIFICATIONS: 'true' };
});

describe('the example of', () => {
  const held = (schema: z.ZodType | null | undefined, value: unknown) => schema?.parse(value);

  it.each(ROWS)('%s fits its schemas', (_, { path, params, query, body, success, example }) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(example.params ?? {})).toEqual(names);
    expect(Object.keys(params?.shape ?? {}).sort()).toEqual([...names].sort());
    held(params, example.params ?? {});
    held(query, example.query ?? {});
    if (body === undefined) expect(example.body).toBeUndefined();
    held(body, example.body);
    if (success.body === null) expect(example.response).toBeUndefined();
    // Answers contain their defaults, and no unknown members.
    else expect(held(success.body, example.response)).toEqual(example.response);
  });
});

describe('a read of', () => {
  const hasRange = (row: (typeof ROWS)[number]) => row[1].scopes === null && row[1].success.mediaType !== undefined;

  it.each(PUBLIC_READS.filter(hasRange))('the file of %s may ask for a range', (...row) => {
    const { parameters, responses } = operationOf(row);
    const refer = (name: string) => ({ $ref: `#/components/${name}` });
    expect(parameters).toEqual(expect.arrayContaining([refer('parameters/Range'), refer('parameters/IfRange')]));
    expect(responses['200'].headers).toHaveProperty('Accept-Ranges');
    expect(responses['206'].headers).toMatchObject({ 'Content-Range': refer('headers/Content-Range'), ETag: {} });
    expect(Object.keys(responses['206'].content)).toEqual([row[1].success.mediaType]);
    expect(documentedCodes(row, 416)).toEqual(['range-not-satisfiable']);
  });

  it.each(ROWS.filter((row) => !hasRange(row)))('%s says nothing of ranges', (...row) => {
    expect(Object.keys(operationOf(row).responses)).not.toContain('206');
  });

  it('the log has the note and the keys of the golden log as examples', () => {
    const golden = (name: string) => readFileSync(join(import.meta.dirname, 'log/golden', name), 'utf8');
    const { getLogCheckpoint, getLogVkey } = ALL_OPERATIONS;
    expect(getLogCheckpoint.example.response).toBe(golden('checkpoint'));
    expect(golden('vkey')).toContain(getLogVkey.example.response.trim());
  });
});

describe('the examples of a claim', () => {
  it('are one for each type of assertion, and fit', () => {
    const { oneOf } = document.components.schemas.CreateClaimBody.properties.assertion;
    const types = oneOf.map(({ properties }: { properties: { type: { const: string } } }) => properties.type.const);
    const examples = oneOf.flatMap((each: { examples: { type: string }[] }) => each.examples);
    expect(examples.map(({ type }: { type: string }) => type)).toEqual(types);
    for (const example of examples) expect(claimAssertionSchema.parse(example)).toEqual(example);
  });
});

/** Codes that an operation answers a status with, by the document. */
function documentedCodes(row: (typeof ROWS)[number], status: number): readonly string[] {
  const response = operationOf(row).responses[status];
  const resolved = document.components.responses[response?.$ref?.split('/').at(-1)];
  return resolved?.content[PROBLEM_CONTENT_TYPE].schema.allOf[1].properties.code.enum ?? [];
}

function expectDocumented(row: (typeof ROWS)[number], how: string, answer: Answer): void {
  const { status, headers, json } = answer;
  const { responses } = operationOf(row);
  expect(Object.keys(responses), `${how}: ${answer.text}`).toContain(String(status));
  if (status < 400) return;
  expect(problemSchema.parse(json)).toEqual(json);
  expect(documentedCodes(row, status), how).toContain(json.code);
  const fields = document.components.responses[responses[status].$ref.split('/').at(-1)].headers ?? {};
  // Each field belongs to one of the codes; an ETag only to existing resources.
  const owed = documentedCodes(row, status).length === 1 ? Object.keys(fields).filter((name) => name !== 'ETag') : [];
  expect(Object.keys(headers)).toEqual(expect.arrayContaining(owed.map((name) => name.toLowerCase())));
}

describe('all answers of the pipeline are documented', () => {
  const broken = (error: Error): Ledger => {
    const fail = () => Promise.reject(error);
    return { transact: fail, get: fail, getMany: fail, query: fail };
  };
  const contended: Ledger = { ...broken(new Error('not reached')), ...reading(), transact: async () => LOST };
  const LOST = { committed: false, refusals: [] } as const;

  function reading(): Pick<Ledger, 'get' | 'getMany' | 'query'> {
    const ledger = openSqliteLedger(':memory:');
    return {
      get: (key) => ledger.get(key),
      getMany: (keys) => ledger.getMany(keys),
      query: (partition, options) => ledger.query(partition, options),
    };
  }

  /** Requests that may fail: the additions to the example, and the world of the request. */
  const WAYS: readonly [string, Partial<Call>, ApiWorldOptions?][] = [
    ['as its example', {}],
    ['without credential', { as: null }],
    ['without scopes', { as: 'nobody' }, { scopes: { nobody: [] } }],
    ['with a credential in the URL', { query: 'access_token=secret' }],
    ['with an unknown parameter', { query: 'unknown=1' }],
    ['with a malformed query', { query: 'cursor=%zz' }],
    ['with an invalid cursor', { query: 'cursor=nothing' }],
    ['without idempotency key', { headers: { 'idempotency-key': undefined } }],
    ['with a short idempotency key', { key: 'short' }],
    ['with a body that is not JSON', { body: '{' }],
    ['with a body that fits no schema', { body: { unknown: true } }],
    ['with a body of another type', { body: 'a,b', headers: { 'content-type': 'text/csv' } }],
    ['with a body that is too large', { body: ' '.repeat(1024 * 1024 + 1) }],
    ['without condition', { headers: { 'if-match': undefined } }],
    ['with a stale condition', { headers: { 'if-match': '"99"' } }],
    ['with a malformed condition', { headers: { 'if-match': 'ninety-nine' } }],
    ['too often', {}, { requestsPerMinute: 1 }],
    ['under contention', {}, { ledger: contended }],
    ['while storage fails', {}, { ledger: broken(new StorageUnavailable('down')) }],
    ['while something is wrong', {}, { ledger: broken(new Error('wrong')) }],
  ];
  const seen = new Set<string>();

  /** Whether an operation has a problem follows from these parts of its row: one operation of each kind is tried. */
  const kindOf = ([, { method, precondition, body, query, params, features }]: (typeof ROWS)[number]) =>
    [method, precondition, body && 'body', query && Object.keys(query.shape), params && 'params', features].join();
  const ofEachKind = [...new Map(WRITE_API.map((row) => [kindOf(row), row])).values()];

  it.each(ofEachKind)('of %s', async (...row) => {
    const { method, path, precondition, example } = row[1];
    const call: Call = {
      method,
      path: path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(example.params?.[name] as string)),
      ...(example.body === undefined ? {} : { body: example.body }),
      ...(precondition === undefined ? {} : { headers: { 'if-match': '"1"' } }),
    };
    for (const [how, more, options] of WAYS) {
      const world = openApiWorld(options);
      const make = () => world.call({ ...call, ...more, headers: { ...call.headers, ...more.headers } });
      if (options?.requestsPerMinute !== undefined) await make();
      const answer = await make();
      expectDocumented(row, how, answer);
      if (answer.status >= 400) seen.add(answer.json.code);
    }
    const world = openApiWorld();
    const key = 'one-key-for-two-requests';
    await world.call({ ...call, key });
    const different =
      call.body === undefined
        ? { headers: { ...call.headers, 'if-match': '"1", "2"' } }
        : { body: `${JSON.stringify(call.body)} ` };
    const other = await world.call({ ...call, key, ...different });
    expectDocumented(row, 'with a key that was used for something else', other);
    if (other.status >= 400) seen.add(other.json.code);
  });

  it('and that was every problem that the pipeline has by itself', () => {
    const own: ProblemCode[] = [
      'contention',
      'content-too-large',
      'credential-in-url',
      'forbidden',
      'idempotency-key-malformed',
      'idempotency-key-missing',
      'idempotency-key-reused',
      'internal-error',
      'invalid-cursor',
      'invalid-request',
      'malformed-body',
      'not-found',
      'precondition-required',
      'rate-limited',
      'service-unavailable',
      'unauthenticated',
      'unknown-query-parameter',
      'unsupported-media-type',
      'validation-failed',
    ];
    expect(own.filter((code) => !seen.has(code))).toEqual([]);
  });
});

describe('all answers of the router are documented', () => {
  it.each(PUBLIC_READS)('of %s', (...row) => {
    const { path, query, example } = row[1];
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => example.params?.[name] as string);
    expect(routeRead('GET', url).kind).toBe('object');
    const isPaged = query !== undefined;
    const refused: readonly [string, ProblemCode][] = [
      ...(ignoresQuery(path)
        ? []
        : [
            [`${url}?unknown=1`, 'unknown-query-parameter'] as const,
            [`${url}?cursor=nothing`, isPaged ? 'invalid-cursor' : 'unknown-query-parameter'] as const,
          ]),
      [`${url}?cursor=${'1'.repeat(URL_MAX_LENGTH)}`, 'uri-too-long'],
      ...(row[1].params === undefined ? [] : [[path.replace('{slug}', 'No_Slug'), 'not-found'] as const]),
    ].map(([target, code]) => [target as string, code as ProblemCode]);
    for (const [target, code] of refused) {
      const routed = routeRead('GET', target);
      if (routed.kind !== 'answer') throw new Error(`${target} was not refused`);
      expect(JSON.parse(routed.body.toString()).code).toBe(code);
      expect(documentedCodes(row, routed.status)).toContain(code);
    }
    if (isPaged)
      expect(routeRead('GET', `${url}?cursor=${example.query?.cursor ?? `1-${'0'.repeat(32)}`}`).kind).toBe('object');
  });
});
