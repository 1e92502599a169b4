/**
 * The OpenAPI document, made from the table of operations alone. Pure: the same table gives the same bytes on every
 * machine. Published at `GET /api/v1/openapi.json`, committed as docs/openapi.json.
 *
 * It is valid OpenAPI 3.1, and avoids forms that common tools misread: a `$ref` stands alone, no schema has a name that
 * generators use themselves, constants have a type, integers a format, arrays a limit. A test checks each rule.
 */
import type * as z from 'zod';
import {
  compatChangesSchema,
  compatCurrenciesSchema,
  compatGenaiSchema,
  compatModelsIndexSchema,
  compatModelsSchema,
  compatPartsSchema,
  compatQuotesSchema,
  compatRatesSchema,
} from '../bodies/compat.ts';
import { exportManifestSchema } from '../bodies/export-manifest.ts';
import { historyIndexSchema, historyTooLongSchema } from '../bodies/history-files.ts';
import { incidentSchema, incidentsSchema } from '../bodies/incidents.ts';
import { latestEntrySchema, latestSchema } from '../bodies/latest.ts';
import { publicSourceSchema } from '../bodies/public-sources.ts';
import { recentEntrySchema, recentSchema } from '../bodies/recent.ts';
import { removedMarketSchema } from '../files/removed-market.ts';
import { takedownSchema } from '../files/takedowns.ts';
import { cadenceSchema, calendarCadenceSchema, minutesCadenceSchema } from '../freshness/cadence.ts';
import {
  batchReportSchema,
  batchRequestSchema,
  decimalObservationRecordSchema,
  ingestRecordSchema,
  marketRecordSchema,
  moneyObservationRecordSchema,
  observationRecordSchema,
  retractionRecordSchema,
  scalarObservationRecordSchema,
} from '../ingest/ingest-records.ts';
import { uploadSchema } from '../ingest/ingest-uploads.ts';
import { apiKeySchema, issuedApiKeySchema } from '../operations/accounts/api-keys.ts';
import { claimSchema } from '../operations/accounts/claims.ts';
import { entitlementSchema, entitlementsSchema } from '../operations/accounts/entitlements.ts';
import { meSchema } from '../operations/accounts/me.ts';
import { waitlistRequestSchema, waitlistRequestWithContactSchema } from '../operations/accounts/waitlist-requests.ts';
import { watchlistSchema } from '../operations/accounts/watchlists.ts';
import { ALL_OPERATIONS } from '../operations/all-operations.ts';
import { auditRecordSchema } from '../operations/audit-records.ts';
import { erasureSchema } from '../operations/erasures.ts';
import type { OperationDefinition } from '../operations/operation.ts';
import { publicationSchema } from '../operations/publications.ts';
import { historyPageSchema, marketPageSchema } from '../operations/reads/public-reads.ts';
import { sourceVerificationRecordSchema } from '../operations/source-verifications.ts';
import { TAGS } from '../operations/tags.ts';
import type { Json } from '../values/canonical-json.ts';
import { FEATURES, type FeatureDefinition } from '../values/features.ts';
import { marketSchema, slugSchema, snapshotSchema } from '../values/market.ts';
import {
  instantSchema,
  metricSchema,
  moneyMetricSchema,
  observationSchema,
  scalarMetricSchema,
} from '../values/metric.ts';
import { waitlistSchema } from '../values/waitlist.ts';
import {
  CORS_HEADERS,
  hasRanges,
  REQUEST_HEADERS,
  RESPONSE_HEADERS,
  requestHeadersOf,
  responseHeadersOf,
} from './openapi-headers.ts';
import { INFO, SECURITY_SCHEMES } from './openapi-info.ts';
import { problemResponsesOf, problemSchema } from './openapi-problems.ts';
import { createDocumentSchemas, type Direction, type DocumentSchemas } from './openapi-schemas.ts';

type JsonObject = { readonly [name: string]: Json };

/** The hosts of readers and of writers. A self-hosted service has one for both, AWS has two. */
export interface ApiServers {
  readonly readServer: string;
  readonly writeServer: string;
}

/** The host that serves the document. */
const SAME_SERVER: ApiServers = { readServer: '/', writeServer: '/' };

/** Schemas by their names in the document: `watchlistSchema` is `Watchlist`. */
function named(schemas: { readonly [name: `${string}Schema`]: z.ZodType }): { readonly [name: string]: z.ZodType } {
  const nameOf = (id: string) => id.charAt(0).toUpperCase() + id.slice(1, -'Schema'.length);
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [nameOf(id), schema]));
}

/** The schemas with their own names. Any other body or answer is named after the first operation that has it. */
const NAMES: { readonly [Way in Direction]: { readonly [name: string]: z.ZodType } } = {
  input: {
    CadenceRecord: cadenceSchema,
    CalendarCadenceRecord: calendarCadenceSchema,
    MinutesCadenceRecord: minutesCadenceSchema,
    IngestBatch: batchRequestSchema,
    ...named({ ingestRecordSchema, marketRecordSchema, observationRecordSchema, retractionRecordSchema }),
    ...named({ decimalObservationRecordSchema, moneyObservationRecordSchema, scalarObservationRecordSchema }),
    ...named({ instantSchema, slugSchema }),
  },
  output: {
    ...named({
      apiKeySchema,
      auditRecordSchema,
      batchReportSchema,
      claimSchema,
      entitlementSchema,
      entitlementsSchema,
    }),
    ...named({ cadenceSchema, calendarCadenceSchema, minutesCadenceSchema, erasureSchema, exportManifestSchema }),
    ...named({ compatCurrenciesSchema, compatModelsSchema, compatModelsIndexSchema, compatPartsSchema }),
    ...named({ compatChangesSchema, compatQuotesSchema, compatRatesSchema, historyIndexSchema, historyPageSchema }),
    ...named({ historyTooLongSchema, instantSchema, issuedApiKeySchema, latestSchema, latestEntrySchema, meSchema }),
    ...named({ marketSchema, marketPageSchema, metricSchema, moneyMetricSchema, scalarMetricSchema }),
    ...named({ observationSchema, problemSchema, publicationSchema, publicSourceSchema, recentSchema }),
    ...named({ recentEntrySchema, removedMarketSchema, slugSchema, snapshotSchema, takedownSchema, uploadSchema }),
    ...named({ waitlistSchema, waitlistRequestSchema, waitlistRequestWithContactSchema, watchlistSchema }),
    CompatGenaiPrices: compatGenaiSchema,
    PublicIncident: incidentSchema,
    PublicIncidents: incidentsSchema,
    SourceVerification: sourceVerificationRecordSchema,
  },
};

export function openApiDocument(servers: ApiServers = SAME_SERVER): Json {
  const rows = Object.entries(ALL_OPERATIONS) as [string, OperationDefinition][];
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
    // `x-internal` tells tools that a server is public.
    servers: [...new Set([readServer, writeServer])].map((url) => ({ url, 'x-internal': false })),
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
  const { tag, summary, scopes, features, body } = row;
  const description = [row.description ?? [], accessOf(row)].flat().join('\n\n');
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === '' ? {} : { description }),
    ...(readServer === writeServer ? {} : { servers: [{ url: scopes === null ? readServer : writeServer }] }),
    security: securityOf(row),
    parameters: parametersOf(row, schemas),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(row, body, schemas) }),
    responses: responsesOf(row, schemas, shared),
    ...(features === undefined ? {} : { 'x-tidemark-features': features }),
  };
}

/** A credential needs only one of an operation's scopes, in a token or in a key. */
function securityOf({ scopes }: OperationDefinition): Json {
  if (scopes === null) return [];
  const choices = scopes.length === 0 ? [[]] : scopes.map((scope) => [scope]);
  return choices.flatMap((needed) => [{ userToken: needed }, { apiKey: needed }]);
}

/** Scopes and limits as text for people: some API references do not show the fields for programs. */
function accessOf({ scopes, features = [] }: OperationDefinition): readonly string[] {
  if (scopes === null) return [];
  const names = scopes.map((scope) => `\`${scope}\``).join(' or ');
  const scope = scopes.length === 0 ? 'Any credential is enough.' : `Scope: ${names}.`;
  const limits = features.map((feature) => `\`${feature}\` (${limitText(FEATURES[feature])})`).join(', ');
  return [scope, ...(limits === '' ? [] : [`Limited by the entitlements of the credential's subject: ${limits}.`])];
}

function limitText({ kind, defaultLimit }: FeatureDefinition): string {
  if (kind === 'boolean') return `by default ${defaultLimit === 0 ? 'not allowed' : 'allowed'}`;
  return `by default ${defaultLimit.toLocaleString('en')}${kind === 'rate' ? ' a day' : ''}`;
}

function parametersOf(row: OperationDefinition, schemas: DocumentSchemas): Json {
  const inPlace = (place: 'path' | 'query'): Json[] => {
    const schema = place === 'path' ? row.params : row.query;
    if (schema === undefined) return [];
    const { properties, required = [] } = schemas.toJson(schema, 'input') as unknown as ObjectSchema;
    /** e.g. `watchlists` for `/api/v1/watchlists/{id}` */
    const collectionOf = (name: string) => row.path.split(`/{${name}}`)[0]?.split('/').at(-1);
    const whichOf = (name: string) => (place === 'path' ? `Names one of the ${collectionOf(name)}.` : undefined);
    const examples = (place === 'path' ? row.example.params : row.example.query) ?? {};
    return Object.entries(properties).map(([name, { description = whichOf(name), ...schema }]) => ({
      name,
      in: place,
      ...(required.includes(name) ? { required: true } : {}),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(examples[name] === undefined ? {} : { example: examples[name] }),
    }));
  };
  const headers = requestHeadersOf(row).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return [...inPlace('path'), ...inPlace('query'), ...headers];
}

interface ObjectSchema {
  readonly properties: { readonly [name: string]: JsonObject };
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
        description: 'One record on each line, as JSON. The options of a JSON body are in the query here.',
        contentMediaType: mediaType,
        contentSchema,
      },
    };
  };
  return { required: true, content: Object.fromEntries(mediaTypes.map((type) => [type, contentOf(type)])) };
}

function responsesOf(row: OperationDefinition, schemas: DocumentSchemas, shared: Map<string, Json>): Json {
  const { status, description, body, mediaType = 'application/json', line } = row.success;
  const header = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
  const headersOf = (names: readonly string[]) =>
    Object.fromEntries([...CORS_HEADERS, ...names].map((name) => [name, header(name)]));
  const content = body && {
    [mediaType]: {
      schema:
        line === undefined
          ? schemas.toJson(body, 'output')
          : { type: 'string', contentMediaType: mediaType, contentSchema: schemas.toJson(line, 'output') },
      ...(row.example.response === undefined ? {} : { example: row.example.response as Json }),
    },
  };
  const headers = headersOf(responseHeadersOf(row));
  const responses: Record<string, Json> = { [status]: { description, headers, ...(content && { content }) } };
  if (hasRanges(row)) {
    responses['206'] = {
      description: 'The bytes that `Range` asks for (RFC 9110, section 15.3.7)',
      headers: headersOf([...responseHeadersOf(row), 'Content-Range']),
      content: { [mediaType]: { schema: { type: 'string', format: 'binary' } } },
    };
  }
  if (row.method === 'GET') {
    const names = row.scopes === null ? ['ETag', 'Cache-Control', 'Age'] : ['ETag'];
    responses['304'] = {
      description: 'A version that `If-None-Match` names is still current',
      headers: headersOf(names),
    };
  }
  const problem = schemas.toJson(problemSchema, 'output');
  const removedMarket = schemas.toJson(removedMarketSchema, 'output');
  const historyTooLong = schemas.toJson(historyTooLongSchema, 'output');
  for (const { status, name, response } of problemResponsesOf(row, {
    header,
    problem,
    removedMarket,
    historyTooLong,
  })) {
    shared.set(name, response);
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

/**
 * Names for the bodies and answers that have no name in {@link NAMES}. `Response` is avoided, because client generators use
 * it for the answer with its status.
 */
function schemaNames(rows: readonly (readonly [string, OperationDefinition])[]) {
  const input = new Map(Object.entries(NAMES.input).map(([name, schema]) => [schema, name]));
  const output = new Map(Object.entries(NAMES.output).map(([name, schema]) => [schema, name]));
  for (const [id, { body, success }] of rows) {
    const name = id.charAt(0).toUpperCase() + id.slice(1);
    if (body !== undefined && !input.has(body)) input.set(body, `${name}Body`);
    if (success.body !== null && !output.has(success.body)) output.set(success.body, `${name}Result`);
  }
  return { input, output };
}
