/**
 * The OpenAPI document, made from the table of operations and nothing else. Pure: the same table gives the same document
 * on every machine. Published at `GET /api/v1/openapi.json`, committed as docs/openapi.json.
 */
import type * as z from 'zod';
import type { Json } from './canonical-json.ts';
import { FEATURES } from './features.ts';
import { batchReportSchema, batchRequestSchema, ingestRecordSchema } from './ingest-records.ts';
import { marketSchema, slugSchema, snapshotSchema } from './market.ts';
import { instantSchema, metricSchema, observationSchema } from './metric.ts';
import { REQUEST_HEADERS, RESPONSE_HEADERS, requestHeadersOf, responseHeadersOf } from './openapi-headers.ts';
import { problemResponsesOf, problemSchema } from './openapi-problems.ts';
import { createDocumentSchemas, type Direction, type DocumentSchemas } from './openapi-schemas.ts';
import { apiKeySchema, issuedApiKeySchema } from './operations/api-keys.ts';
import { auditRecordSchema } from './operations/audit-records.ts';
import { claimSchema } from './operations/claims.ts';
import { entitlementSchema, entitlementsSchema } from './operations/entitlements.ts';
import { erasureSchema } from './operations/erasures.ts';
import { meSchema } from './operations/me.ts';
import type { OperationDefinition } from './operations/operation.ts';
import { historyPageSchema, marketPageSchema } from './operations/public-reads.ts';
import { publicationSchema } from './operations/publications.ts';
import { sourceVerificationRecordSchema } from './operations/source-verifications.ts';
import { TAGS } from './operations/tags.ts';
import { waitlistRequestSchema, waitlistRequestWithContactSchema } from './operations/waitlist-requests.ts';
import { watchlistSchema } from './operations/watchlists.ts';
import { OPERATIONS } from './operations.ts';
import { SCOPES } from './scopes.ts';
import { waitlistSchema } from './waitlist.ts';

type JsonObject = { readonly [name: string]: Json };

/** Where readers and writers find the API: one host when embedded, one for each on AWS. */
export interface ApiServers {
  readonly readServer: string;
  readonly writeServer: string;
}

/** The host that serves the document. */
const SAME_SERVER: ApiServers = { readServer: '/', writeServer: '/' };

/** The resources. A body or an answer that is none of them is named after the first operation that has it. */
const NAMES: { readonly [Way in Direction]: { readonly [name: string]: z.ZodType } } = {
  input: {
    IngestBatch: batchRequestSchema,
    IngestRecord: ingestRecordSchema,
    Instant: instantSchema,
    Slug: slugSchema,
  },
  output: {
    ApiKey: apiKeySchema,
    AuditRecord: auditRecordSchema,
    BatchReport: batchReportSchema,
    Claim: claimSchema,
    Entitlement: entitlementSchema,
    Entitlements: entitlementsSchema,
    Erasure: erasureSchema,
    HistoryPage: historyPageSchema,
    Instant: instantSchema,
    IssuedApiKey: issuedApiKeySchema,
    Market: marketSchema,
    MarketPage: marketPageSchema,
    Me: meSchema,
    Metric: metricSchema,
    Observation: observationSchema,
    Problem: problemSchema,
    Publication: publicationSchema,
    Slug: slugSchema,
    Snapshot: snapshotSchema,
    SourceVerification: sourceVerificationRecordSchema,
    Waitlist: waitlistSchema,
    WaitlistRequest: waitlistRequestSchema,
    WaitlistRequestWithContact: waitlistRequestWithContactSchema,
    Watchlist: watchlistSchema,
  },
};

/** The document for one deployment. */
export function openApiDocument(servers: ApiServers = SAME_SERVER): Json {
  const rows = Object.entries(OPERATIONS) as [string, OperationDefinition][];
  const schemas = createDocumentSchemas(schemaNames(rows));
  const responses = new Map<string, Json>();
  const paths: Record<string, Record<string, Json>> = {};
  for (const [id, row] of rows) {
    const operation = operationObject(id, row, servers, schemas, responses);
    paths[row.path] = { ...paths[row.path], [row.method.toLowerCase()]: operation };
  }
  const { readServer, writeServer } = servers;
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [...new Set([readServer, writeServer])].map((url) => ({ url })),
    tags: Object.entries(TAGS)
      .filter(([name]) => rows.some(([, { tag }]) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: schemas.components(),
      parameters: REQUEST_HEADERS,
      headers: RESPONSE_HEADERS,
      responses: Object.fromEntries([...responses].sort(([left], [right]) => (left < right ? -1 : 1))),
    },
    'x-tidemark-features': FEATURES,
  };
}

function operationObject(
  id: string,
  row: OperationDefinition,
  { readServer, writeServer }: ApiServers,
  schemas: DocumentSchemas,
  shared: Map<string, Json>,
): Json {
  const { tag, summary, description, scopes, features, body } = row;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(readServer === writeServer ? {} : { servers: [{ url: scopes === null ? readServer : writeServer }] }),
    security: securityOf(row),
    parameters: parametersOf(row, schemas),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(row, body, schemas) }),
    responses: responsesOf(row, schemas, shared),
    ...(features === undefined ? {} : { 'x-tidemark-features': features }),
  };
}

/** Any one of an operation's scopes is enough, in a token or in a key. */
function securityOf({ scopes }: OperationDefinition): Json {
  if (scopes === null) return [];
  const choices = scopes.length === 0 ? [[]] : scopes.map((scope) => [scope]);
  return choices.flatMap((needed) => [{ userToken: needed }, { apiKey: needed }]);
}

function parametersOf(row: OperationDefinition, schemas: DocumentSchemas): Json {
  const inPlace = (place: 'path' | 'query'): Json[] => {
    const schema = place === 'path' ? row.params : row.query;
    if (schema === undefined) return [];
    const { properties, required = [] } = schemas.toJson(schema, 'input') as unknown as ObjectSchema;
    const examples = (place === 'path' ? row.example.params : row.example.query) ?? {};
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: place,
      ...(required.includes(name) ? { required: true } : {}),
      schema: property,
      ...(examples[name] === undefined ? {} : { example: examples[name] }),
    }));
  };
  const headers = requestHeadersOf(row).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return [...inPlace('path'), ...inPlace('query'), ...headers];
}

interface ObjectSchema {
  readonly properties: JsonObject;
  readonly required?: readonly string[];
}

function requestBodyOf(row: OperationDefinition, body: z.ZodType, schemas: DocumentSchemas): Json {
  const { mediaTypes = ['application/json'], line, example } = row;
  const contentOf = (mediaType: string): Json => {
    if (mediaType === 'application/json') {
      return { schema: schemas.toJson(body, 'input'), example: example.body as Json };
    }
    if (line === undefined) throw new Error(`${row.path}: say what a line of ${mediaType} is`);
    const contentSchema = schemas.toJson(line, 'input');
    return {
      schema: {
        type: 'string',
        description: 'One JSON value on each line.',
        contentMediaType: mediaType,
        contentSchema,
      },
    };
  };
  return { required: true, content: Object.fromEntries(mediaTypes.map((type) => [type, contentOf(type)])) };
}

function responsesOf(row: OperationDefinition, schemas: DocumentSchemas, shared: Map<string, Json>): Json {
  const { status, description, body } = row.success;
  const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
  const headersOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, header(name)]));
  const content = body && {
    'application/json': { schema: schemas.toJson(body, 'output'), example: row.example.response as Json },
  };
  const headers = headersOf(responseHeadersOf(row));
  const responses: Record<string, Json> = { [status]: { description, headers, ...(content && { content }) } };
  if (row.method === 'GET') {
    const names = row.scopes === null ? ['ETag', 'Cache-Control', 'Age'] : ['ETag'];
    responses['304'] = { description: 'What `If-None-Match` names is still current', headers: headersOf(names) };
  }
  const problem = schemas.toJson(problemSchema, 'output');
  for (const { status, name, response } of problemResponsesOf(row, { header, problem })) {
    shared.set(name, response);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

/** Names for what has none in {@link NAMES}: the body and the success of an operation. */
function schemaNames(rows: readonly (readonly [string, OperationDefinition])[]) {
  const input = new Map(Object.entries(NAMES.input).map(([name, schema]) => [schema, name]));
  const output = new Map(Object.entries(NAMES.output).map(([name, schema]) => [schema, name]));
  for (const [id, { body, success }] of rows) {
    const name = id.charAt(0).toUpperCase() + id.slice(1);
    if (body !== undefined && !input.has(body)) input.set(body, `${name}Body`);
    if (success.body !== null && !output.has(success.body)) output.set(success.body, `${name}Response`);
  }
  return { input, output };
}

const INFO: Json = {
  title: 'Tidemark',
  version: '1.0.0',
  summary: 'Market data that says where each number came from.',
  description: [
    'Public reads are static files: anybody may read them, from anywhere, and poll them with `If-None-Match`.',
    'Everything else needs `Authorization: Bearer <token>` with a token of a signed-in user or an API key.',
    '',
    '- **Money** is an integer in minor units with an ISO 4217 currency code. Null means unknown, never zero.',
    '- **Times** are RFC 3339 in UTC with `Z`.',
    '- **Collections** are pages: pass `nextCursor` of one page as `cursor` of the next, until it is null.',
    '- **Every write** needs an `Idempotency-Key`. What has happened is answered again; what was refused left no trace.',
    '- **Unknown fields** and unknown query parameters are refused, not ignored.',
    '- **Problems** are `application/problem+json` (RFC 9457) with a stable `code`. Any path may also be answered with ' +
      '405 `method-not-allowed`, 408 `request-timeout`, 413 `content-too-large`, 414 `uri-too-long` or 431 ' +
      '`header-fields-too-large` before it is known what was asked for.',
  ].join('\n'),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const SCOPE_LIST = Object.entries(SCOPES).map(([scope, description]) => `- \`${scope}\`: ${description}`);

const SECURITY_SCHEMES: Json = {
  userToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: ['An access token of the configured OpenID Connect issuer. Its scopes:', '', ...SCOPE_LIST].join('\n'),
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tdm_<environment>_<key id>_<secret>',
    description: 'An API key, with the same scopes. See `GET /api/v1/waitlist` for how to get one.',
  },
};
