/** Source recipes: the service fetches files of others on a schedule. Runs are these fetches. */
import * as z from 'zod';
import { rowCountsSchema } from '../ingest/row-counts.ts';
import { instantSchema } from '../values/metric.ts';
import { OPERATORS_ONLY, operationsOf } from './operation.ts';
import { idSchema, pageQuery, pageSchema, revisionSchema } from './resources.ts';

/** Enough for a mapping of thousands of lines. Together with its sealed answer, the recipe still fits the ledger's items. */
const RECIPE_BYTES_MAX = 128 * 1024;

/** The most refused rows that a run names. */
export const RUN_FAULTS_MAX = 20;

/**
 * Runs that ingested nothing are deleted after this many days. Other runs are kept for ever, because they document the
 * origin of numbers.
 */
export const IDLE_RUN_KEPT_DAYS = 90;

const sourceNameSchema = z
  .string()
  .max(60)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, { error: 'must be the name of a source: lower-case words joined by hyphens' })
  .describe('The `name` of the recipe.');

const recipeSchema = z
  .record(z.string().max(100), z.unknown())
  .describe('The recipe, see docs/sources.md: URL, hosts, schedule, mapping, limits.');

const pausedSchema = z.boolean().describe('Whether the schedule is suspended. A run can still be asked for.');

const sourceRecipeSchema = z.strictObject({
  name: sourceNameSchema,
  recipe: recipeSchema,
  paused: pausedSchema,
  createdAt: instantSchema,
  updatedAt: instantSchema,
  revision: revisionSchema,
});

const runOutcomeSchema = z
  .enum(['taken-in', 'unchanged', 'failed', 'same', 'different'])
  .describe(
    '`taken-in`: the records are in, but for the refused ones. `unchanged`: the source has nothing new. `failed`: see ' +
      '`reason`. Of a replay, `same` or `different`: whether it gave the records of the run that it replays, byte for byte.',
  );

const runIdSchema = idSchema('run');

const sourceStateSchema = z.strictObject({
  name: sourceNameSchema,
  paused: pausedSchema,
  nextRunAt: instantSchema.nullable().describe('When the next run is due. Null: the source is paused.'),
  run: runIdSchema.nullable().describe('The run under way or waiting. Null: none.'),
  failures: z.int().min(0).describe('Failed runs since the last one that did not fail.'),
  lastRun: z
    .strictObject({
      id: runIdSchema,
      outcome: runOutcomeSchema,
      finishedAt: instantSchema.describe('When it ended.'),
    })
    .nullable()
    .describe('The newest run that has ended. Null: none has.'),
  lastSuccessAt: instantSchema.nullable().describe('When a run last ended as `taken-in` or `unchanged`.'),
});

const count = (text: string) => z.int().min(0).describe(text);

const sourceRunSchema = z.strictObject({
  id: runIdSchema,
  source: sourceNameSchema,
  cause: z.enum(['schedule', 'request', 'replay']).describe('Why the run is made.'),
  state: z
    .enum(['waiting', 'taking-in', 'ended'])
    .describe('`waiting` until the answer of the source is archived, then `taking-in`.'),
  outcome: runOutcomeSchema.nullable().describe('Null until the run has ended.'),
  reason: z
    .strictObject({ code: z.string().describe('Stable.'), detail: z.string().describe('For people.') })
    .nullable()
    .describe('Why the run failed. Null: it did not.'),
  attempt: z.int().min(1).describe('1, and one more after each failed run before it.'),
  createdAt: instantSchema,
  startedAt: instantSchema.nullable().describe('When the source was asked. Null: not yet.'),
  finishedAt: instantSchema.nullable().describe('When the run ended. Null: not yet.'),
  url: z.string().nullable().describe('The URL that was asked. Null: none yet.'),
  sha256: z.string().nullable().describe('SHA-256 of the raw answer, and its name in the archive. Null: no answer.'),
  bytes: z.int().min(0).nullable().describe('The length of the raw answer.'),
  etag: z.string().nullable().describe('The `ETag` of the answer.'),
  lastModified: z.string().nullable().describe('The `Last-Modified` of the answer.'),
  recipeSha256: z.string().nullable().describe('SHA-256 of the recipe that was used, and its name in the archive.'),
  records: z.int().min(0).nullable().describe('Records that the answer gave. Null: not derived yet.'),
  refusedRows: count('Rows of the answer that gave no record.'),
  faults: z
    .array(
      z.strictObject({
        line: z.int().min(1).describe('The line of the answer.'),
        code: z.string().describe('The rule that refuses the row.'),
        detail: z.string().describe('For people.'),
      }),
    )
    .max(RUN_FAULTS_MAX)
    .describe('The first refused rows, and columns whose attributes are left out because the answer lacks them.'),
  upload: idSchema('upl').nullable().describe('The upload of the records, at `/api/v1/ingest/uploads/{id}`.'),
  counts: rowCountsSchema
    .nullable()
    .describe('Records of the upload by their outcome: its reports say more. Null: not known yet.'),
  replayOf: runIdSchema.nullable().describe('The run that this one replays.'),
  nextRunAt: instantSchema.nullable().describe('When the next run was due, as this one ended.'),
});

export type SourceRecipe = z.infer<typeof sourceRecipeSchema>;
export type SourceState = z.infer<typeof sourceStateSchema>;
export type SourceRun = z.infer<typeof sourceRunSchema>;
export type RunOutcome = z.infer<typeof runOutcomeSchema>;

const NAME = 'bank-daily';
const ID = 'run_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const recipe = {
  name: NAME,
  description: 'Daily rates of a central bank, one row a currency.',
  url: 'https://rates.example/daily.csv',
  hosts: ['rates.example'],
  schedule: { at: ['16:30'], timeZone: 'Europe/Berlin' },
  publisher: 'A central bank',
  licence: 'CC-BY-4.0',
  attribution: 'A central bank',
  cadence: { period: 'day', releaseTime: '15:00', graceSeconds: 7200 },
  limits: { maxBytes: 1_048_576, timeoutSeconds: 60 },
  mapping: {
    match: ['currency'],
    market: {
      slug: 'bank-eur-{currency}',
      name: 'Euro in {currency}, central bank',
      kind: 'fx',
      nativeCurrency: '{currency}',
      unit: { quantity: '1000', of: 'EUR' },
      sources: [{ label: 'Central bank, daily rates', url: 'https://rates.example/' }],
    },
    observation: {
      value: { column: 'rate', quotedQuantity: '1', rounding: 'nearest' },
      currency: '{currency}',
      date: { column: 'date', format: 'YYYY-MM-DD', precision: 'day' },
      sourceLabel: 'Central bank, daily rates',
      sourceUrl: 'https://rates.example/daily.csv',
      confidence: 'high',
      status: 'final',
    },
  },
};
const example: SourceRecipe = {
  name: NAME,
  recipe,
  paused: false,
  createdAt: '2026-11-20T12:00:00.000Z',
  updatedAt: '2026-11-20T12:00:00.000Z',
  revision: 1,
};
const waiting: SourceRun = {
  id: ID,
  source: NAME,
  cause: 'request',
  state: 'waiting',
  outcome: null,
  reason: null,
  attempt: 1,
  createdAt: '2026-11-20T12:00:00.000Z',
  startedAt: null,
  finishedAt: null,
  url: null,
  sha256: null,
  bytes: null,
  etag: null,
  lastModified: null,
  recipeSha256: null,
  records: null,
  refusedRows: 0,
  faults: [],
  upload: null,
  counts: null,
  replayOf: null,
  nextRunAt: null,
};

const params = z.strictObject({ name: sourceNameSchema });
const runParams = params.extend({ run: runIdSchema.describe('The id of the run.') });
const read = ['recipes:read'] as const;
const shown = { status: 200, description: 'The source', body: sourceRecipeSchema, headers: ['ETag'] } as const;
const accepted = { status: 202, description: 'Accepted', body: sourceRunSchema, headers: ['Location'] } as const;

export const sourceOperations = operationsOf({
  tag: 'Sources',
  scopes: ['recipes:write'],
  marketLimit: 'refused-for-limited-keys',
  unlimitedBecause: OPERATORS_ONLY,
})({
  listSources: {
    method: 'GET',
    path: '/api/v1/sources',
    summary: 'List the sources, with their last and next runs',
    description: 'Ordered by name.',
    scopes: read,
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of sources', body: pageSchema(sourceStateSchema) },
    example: {
      response: {
        data: [
          {
            name: NAME,
            paused: false,
            nextRunAt: '2026-11-20T15:30:00.000Z',
            run: null,
            failures: 0,
            lastRun: null,
            lastSuccessAt: null,
          },
        ],
        page: { nextCursor: null },
      },
    },
  },
  getSource: {
    method: 'GET',
    path: '/api/v1/sources/{name}',
    summary: 'Read a source with its recipe',
    scopes: read,
    params,
    success: shown,
    example: { params: { name: NAME }, response: example },
  },
  putSource: {
    method: 'PUT',
    path: '/api/v1/sources/{name}',
    summary: 'Add a source, or replace its recipe',
    description:
      'The body is the recipe. The whole recipe is checked, with its mapping. A new source runs at the next time of its ' +
      'schedule, or when a run is asked for. A run under way keeps the recipe that it began with. The recipe is not a ' +
      'secret: no URL with a credential is taken.',
    params,
    body: recipeSchema,
    maxBodyBytes: RECIPE_BYTES_MAX,
    precondition: 'if-match-or-none-match',
    success: shown,
    example: { params: { name: NAME }, body: recipe, response: example },
  },
  deleteSource: {
    method: 'DELETE',
    path: '/api/v1/sources/{name}',
    summary: 'Remove a source',
    description: 'No run begins after this. Its runs stay on record, and the archive keeps their answers.',
    params,
    precondition: 'if-match',
    success: { status: 204, description: 'Removed', body: null },
    example: { params: { name: NAME } },
  },
  pauseSource: {
    method: 'PUT',
    path: '/api/v1/sources/{name}/pause',
    summary: 'Suspend the schedule of a source',
    description: 'A run under way goes on. `If-Match` is optional; a stale one fails with 412.',
    params,
    precondition: 'if-match-if-sent',
    success: shown,
    example: { params: { name: NAME }, response: { ...example, paused: true, revision: 2 } },
  },
  resumeSource: {
    method: 'DELETE',
    path: '/api/v1/sources/{name}/pause',
    summary: 'Resume the schedule of a source, from its next time on',
    description: '`If-Match` is optional; a stale one fails with 412.',
    params,
    precondition: 'if-match-if-sent',
    success: shown,
    example: { params: { name: NAME }, response: { ...example, revision: 3 } },
  },
  listSourceRuns: {
    method: 'GET',
    path: '/api/v1/sources/{name}/runs',
    summary: 'List the runs of a source, newest first',
    description: `Runs that took nothing in are forgotten after ${IDLE_RUN_KEPT_DAYS} days.`,
    scopes: read,
    params,
    query: z.strictObject(pageQuery),
    success: { status: 200, description: 'A page of runs', body: pageSchema(sourceRunSchema) },
    example: { params: { name: NAME }, response: { data: [waiting], page: { nextCursor: null } } },
  },
  createSourceRun: {
    method: 'POST',
    path: '/api/v1/sources/{name}/runs',
    summary: 'Run a source now',
    description:
      'The run begins within a minute; read it at `Location` until `finishedAt` is set. A run under way is answered instead ' +
      'of a second one.',
    params,
    body: z.strictObject({
      unconditional: z
        .boolean()
        .default(false)
        .describe(
          'Takes the answer in again even if it has not changed since the last run; and a list even if it is much shorter.',
        ),
    }),
    success: accepted,
    example: { params: { name: NAME }, body: {}, response: waiting },
  },
  getSourceRun: {
    method: 'GET',
    path: '/api/v1/sources/{name}/runs/{run}',
    summary: 'Read a run',
    scopes: read,
    params: runParams,
    success: { status: 200, description: 'The run', body: sourceRunSchema, headers: ['ETag'] },
    example: { params: { name: NAME, run: ID }, response: waiting },
  },
  replaySourceRun: {
    method: 'POST',
    path: '/api/v1/sources/{name}/runs/{run}/replay',
    summary: 'Derive the records of a run again from the archive, and compare',
    description:
      'With the recipe and the answer of that run. Nothing is fetched or taken in. The replay is a run of its own: read it ' +
      'at `Location` until `finishedAt` is set.',
    params: runParams,
    success: accepted,
    problems: ['state-transition'],
    example: {
      params: { name: NAME, run: ID },
      response: { ...waiting, id: 'run_01JD8N5W5XQ6M4T0VZ8R2K7C3B', cause: 'replay', replayOf: ID },
    },
  },
});
