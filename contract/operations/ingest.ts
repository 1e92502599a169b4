/** Ingest: batches of records. A worker applies them after they are accepted. */
import * as z from 'zod';
import {
  BATCH_BYTES_MAX,
  type BatchReport,
  batchReportSchema,
  batchRequestSchema,
  DRY_RUN,
  ingestModeSchema,
  ingestRecordSchema,
  PARTIAL,
} from '../ingest/ingest-records.ts';
import { type Upload, uploadRequestSchema, uploadSchema } from '../ingest/ingest-uploads.ts';
import { PUBLIC_TEXT } from '../values/public-text.ts';
import { operationsOf } from './operation.ts';
import { idParams } from './resources.ts';
import { FEED_SCOPES } from './scopes.ts';

/** The media type of newline-delimited JSON. */
export const NDJSON_TYPE = 'application/x-ndjson';

/** The body of a dry run is kept for this long, so that its report can still be explained. */
export const DRY_RUN_KEPT_DAYS = 30;

const flag = z.enum(['true', 'false']);

/** A JSON body has members for these options. NDJSON has none, so they are in the query. */
const lineOptionsSchema = z.strictObject({
  dryRun: flag.optional().describe(`NDJSON only. ${DRY_RUN}`),
  mode: ingestModeSchema.optional().describe('NDJSON only. The same as in a JSON body. If left out: `append`.'),
  partial: flag.optional().describe(`NDJSON only. ${PARTIAL}`),
});

const ID = 'bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

const queued: BatchReport = {
  id: ID,
  state: 'queued',
  summary: '2 records wait for a worker.',
  mode: 'append',
  partial: false,
  dryRun: false,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  bytes: 512,
  records: 2,
  counts: { accepted: 0, unchanged: 0, refused: 0 },
  errors: [],
  markets: [],
  receivedAt: '2026-11-20T12:00:00.000Z',
  finishedAt: null,
  generation: null,
  publishedAt: null,
};

const UPLOAD_ID = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

const announced: Upload = {
  id: UPLOAD_ID,
  state: 'awaiting-content',
  stoppedBecause: null,
  mode: 'append',
  dryRun: false,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  bytes: 7_340_032,
  records: 9_000,
  put: {
    url: `https://uploads.example/uploads/${UPLOAD_ID}?X-Amz-Signature=…`,
    headers: {
      'content-length': '7340032',
      'if-none-match': '*',
      'x-amz-checksum-sha256': 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
    },
    expiresAt: '2026-11-20T13:00:00.000Z',
  },
  done: { bytes: 0, records: 0, batches: 0 },
  counts: { accepted: 0, unchanged: 0, refused: 0 },
  refusedIn: [],
  createdAt: '2026-11-20T12:00:00.000Z',
  finishedAt: null,
  generation: null,
  publishedAt: null,
};

const FEED_RULES =
  'An observation needs `ingest:write`; in the mode `correct`, or with `outlierConfirmed`, it needs `ingest:correct`, as a ' +
  'retraction does. A `market` record needs `markets:write`. An API key may be limited to some markets. A record beyond the ' +
  'credential is refused in the report, with `scope.missing` or `market.not-allowed`.';

export const ingestOperations = operationsOf({
  tag: 'Ingest',
  scopes: FEED_SCOPES,
  marketLimit: 'checked-with-each-record',
})({
  createIngestBatch: {
    method: 'POST',
    path: '/api/v1/ingest/batches',
    summary: 'Send a batch of records',
    description:
      'At most 1,000 records and 1 MiB, as one JSON document or as one record a line (`application/x-ndjson`). The options ' +
      'of NDJSON are in the query; a JSON body holds its own. The service keeps an accepted batch as it came, and a worker ' +
      'applies it. Read the report at `Location` until `finishedAt` is set. The observations are public from the `generation` ' +
      'of the report on. The report lists the faults of each record. For daily ingest, send the whole file again with ' +
      '`mode` `correct`: known records come out unchanged, changed ones become corrections, new ones are added. Every record counts against `ingest-rows-per-day`, ' +
      'and every byte of the body against `ingest-bytes-per-day`, also in dry runs and when it is refused later. ' +
      `${FEED_RULES} ` +
      `The body of a dry run is kept for ${DRY_RUN_KEPT_DAYS} days, its report for good.\n\n${PUBLIC_TEXT}`,
    query: lineOptionsSchema,
    body: batchRequestSchema,
    maxBodyBytes: BATCH_BYTES_MAX,
    mediaTypes: ['application/json', NDJSON_TYPE],
    line: ingestRecordSchema,
    features: ['ingest-batches-per-day', 'ingest-rows-per-day', 'ingest-bytes-per-day'],
    success: {
      status: 202,
      description: 'Accepted: the report will state the outcome of each record',
      body: batchReportSchema,
      headers: ['Location'],
    },
    example: {
      body: {
        records: [
          {
            type: 'market',
            slug: 'gold-usd',
            name: 'Gold, US dollar',
            kind: 'metal',
            nativeCurrency: 'USD',
            unit: { quantity: 1, of: 'troy ounce' },
          },
          {
            type: 'observation',
            market: 'gold-usd',
            metric: 'price',
            amountMinor: 412345,
            currency: 'USD',
            sourceValue: '4123.45',
            sourceLabel: 'currency-api daily release',
            sourceUrl: 'https://cdn.jsdelivr.net/npm/@fawazahmed0/currency-api@2026-10-01/v1/currencies/xau.json',
            observedAt: '2026-10-01T00:00:00Z',
            releasedAt: '2026-10-01T01:12:00Z',
            confidence: 'high',
            status: 'final',
          },
        ],
      },
      response: queued,
    },
  },
  getIngestBatch: {
    method: 'GET',
    path: '/api/v1/ingest/batches/{id}',
    summary: 'Read the report of one of your batches',
    description: 'An operator can read the report of every batch, to find out where numbers came from.',
    params: idParams('bat'),
    success: { status: 200, description: 'The report', body: batchReportSchema, headers: ['ETag'] },
    example: {
      params: { id: ID },
      response: {
        ...queued,
        state: 'applied',
        summary: '2 records are stored, and 0 were known already.',
        counts: { accepted: 2, unchanged: 0, refused: 0 },
        markets: ['gold-usd'],
        finishedAt: '2026-11-20T12:00:01.000Z',
        generation: 5,
        publishedAt: '2026-11-20T12:00:02.000Z',
      },
    },
  },
  createIngestUpload: {
    method: 'POST',
    path: '/api/v1/ingest/uploads',
    summary: 'Announce a large file',
    description:
      'For files that are too large for a batch: up to 5 GB of NDJSON, one record a line. PUT the file to `put.url` with ' +
      '`put.headers`. A file of another length or digest is refused there; a second file is refused with 412. Any 2xx ' +
      'status means that the file is kept. A refusal has the form of the storage that gives it, which may not be a problem ' +
      'document. A PUT that is answered with 412 or breaks off may have stored the file: read the upload before you put it ' +
      'again. When the file has arrived, a worker applies it from the first line to the last, in batches of at most 1,000 ' +
      'records. Each batch has a report. Refused records are always set aside, because the beginning of the file is public ' +
      'before the end is read. A line that is not JSON, or is longer than 128 KiB, is refused as a record. With `dryRun` ' +
      `nothing is stored: the reports say what would be.\n\n${PUBLIC_TEXT}`,
    body: uploadRequestSchema,
    features: ['ingest-uploads-per-day', 'ingest-rows-per-day', 'ingest-bytes-per-day'],
    success: { status: 201, description: 'Announced', body: uploadSchema, headers: ['Location'] },
    example: {
      body: { sha256: announced.sha256, bytes: announced.bytes, records: announced.records },
      response: announced,
    },
  },
  getIngestUpload: {
    method: 'GET',
    path: '/api/v1/ingest/uploads/{id}',
    summary: 'Read the state of one of your large files',
    description: 'Until the file has arrived, each reading gives a new target. An operator can read every upload.',
    params: idParams('upl'),
    success: { status: 200, description: 'The upload', body: uploadSchema, headers: ['ETag'] },
    example: {
      params: { id: UPLOAD_ID },
      response: {
        ...announced,
        state: 'applied',
        put: null,
        done: { bytes: 7_340_032, records: 9_000, batches: 9 },
        counts: { accepted: 8_700, unchanged: 0, refused: 300 },
        refusedIn: [{ batch: ID, firstLine: 4_201, refused: 300 }],
        finishedAt: '2026-11-20T12:40:00.000Z',
        generation: 61,
        publishedAt: '2026-11-20T12:40:02.000Z',
      },
    },
  },
});
