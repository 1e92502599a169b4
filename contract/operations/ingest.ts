/** Ingest: batches of records, which a worker applies after they were accepted. */
import * as z from 'zod';
import {
  type BatchReport,
  batchReportSchema,
  batchRequestSchema,
  DRY_RUN,
  ingestModeSchema,
  ingestRecordSchema,
  PARTIAL,
} from '../ingest-records.ts';
import { defineOperations } from './operation.ts';
import { idParams } from './resources.ts';

/** The media type of newline-delimited JSON. */
export const NDJSON_TYPE = 'application/x-ndjson';

const flag = z.enum(['true', 'false']);

/** The options of an NDJSON body, which has no room for them. A JSON body holds its own. */
const lineOptionsSchema = z.strictObject({
  dryRun: flag.optional().describe(`NDJSON only. ${DRY_RUN}`),
  mode: ingestModeSchema.optional().describe('NDJSON only. As in a JSON body; `append` if left out.'),
  partial: flag.optional().describe(`NDJSON only. ${PARTIAL}`),
});

const ID = 'bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A';

const queued: BatchReport = {
  id: ID,
  state: 'queued',
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

const tag = 'Ingest';

export const ingestOperations = defineOperations({
  createIngestBatch: {
    method: 'POST',
    path: '/api/v1/ingest/batches',
    tag,
    summary: 'Send a batch of records to be taken in',
    description:
      'At most 1,000 records and 1 MiB, as one JSON document or as one record a line (`application/x-ndjson`, with the ' +
      'options in the query; a JSON body holds its own). What is accepted here is kept as it came, and applied by a ' +
      'worker: read the report at `Location` until `finishedAt` is set; what was taken in is public from its `generation` ' +
      'on. Whether each record is right is in the report. Every record that is sent counts against ' +
      '`ingest-rows-per-day`, those that are refused later too; records of a dry run do not.',
    scopes: ['ingest:write'],
    query: lineOptionsSchema,
    body: batchRequestSchema,
    mediaTypes: ['application/json', NDJSON_TYPE],
    line: ingestRecordSchema,
    features: ['ingest-rows-per-day'],
    success: {
      status: 202,
      description: 'Accepted: the report says what comes of it',
      body: batchReportSchema,
      headers: ['Location'],
    },
    problems: ['daily-quota-exceeded'],
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
    tag,
    summary: 'Read what has come of a batch of yours',
    scopes: ['ingest:write'],
    params: idParams('bat'),
    success: { status: 200, description: 'The report', body: batchReportSchema, headers: ['ETag'] },
    problems: ['not-found'],
    example: {
      params: { id: ID },
      response: {
        ...queued,
        state: 'applied',
        counts: { accepted: 2, unchanged: 0, refused: 0 },
        markets: ['gold-usd'],
        finishedAt: '2026-11-20T12:00:01.000Z',
        generation: 5,
        publishedAt: '2026-11-20T12:00:02.000Z',
      },
    },
  },
});
