/** Large files for ingest: announced to the API, put into storage, applied in batches. */
import * as z from 'zod';
import { instantSchema } from '../values/metric.ts';
import { ingestModeSchema } from './ingest-records.ts';
import { correctionsSchema, firstBesideSchema, firstWithheldSchema, rowCountsSchema } from './row-counts.ts';

/** Below S3's limit for one PUT, which is 5 GiB. */
export const UPLOAD_BYTES_MAX = 5_000_000_000;

/** The number of lines of the largest file if each line holds only a slug. */
export const UPLOAD_RECORDS_MAX = 50_000_000;

/** The most batches with refused records that an upload names. */
export const REFUSED_BATCHES_MAX = 100;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 in lower-case hex' });

/** The most records of a dry run, because the worker keeps its effects in memory. */
export const DRY_RUN_RECORDS_MAX = 50_000;

const FILE_DRY_RUN =
  'Examines the file and changes nothing. Each record is judged as if the records before it had been stored. At most ' +
  `${DRY_RUN_RECORDS_MAX.toLocaleString('en')} records.`;

/** `POST /api/v1/ingest/uploads`: the announcement of a file. */
export const uploadRequestSchema = z
  .strictObject({
    sha256: sha256Schema.describe('SHA-256 of the file, in hex. The storage refuses another file.'),
    bytes: z.int().min(1).max(UPLOAD_BYTES_MAX).describe('The length of the file.'),
    records: z
      .int()
      .min(1)
      .max(UPLOAD_RECORDS_MAX)
      .describe(
        'The most records that the file holds: they count against `ingest-rows-per-day`. Records beyond this number ' +
          'are not stored.',
      ),
    mode: ingestModeSchema.default('append'),
    dryRun: z.boolean().default(false).describe(FILE_DRY_RUN),
  })
  .refine(({ dryRun, records }) => !dryRun || records <= DRY_RUN_RECORDS_MAX, {
    path: ['records'],
    error: `a dry run takes at most ${DRY_RUN_RECORDS_MAX} records: send the beginning of the file`,
  });

const uploadTargetSchema = z.strictObject({
  url: z
    .string()
    .describe('Where to PUT the file: absolute, or relative to this URL. Keep the URL secret: it is a credential.'),
  headers: z.record(z.string(), z.string()).describe('Send these header fields exactly, without `Authorization`.'),
  expiresAt: instantSchema.describe(
    'The target is valid until then. After that, read the upload again for another target.',
  ),
});

/** `GET /api/v1/ingest/uploads/{id}`: the state of an upload. */
export const uploadSchema = z.strictObject({
  id: z.string(),
  state: z
    .enum(['awaiting-content', 'queued', 'applying', 'applied', 'examined', 'stopped'])
    .describe(
      '`awaiting-content`, then `queued`, `applying` and `applied`; a dry run ends as `examined`. Or `stopped`: the records before that point are ' +
        'stored, and the others are not. Without its file, an upload is forgotten after 30 days.',
    ),
  stoppedBecause: z
    .enum(['too-many-records', 'credential-ended'])
    .nullable()
    .describe(
      'Set when `stopped`. `too-many-records`: the file holds more than were announced. `credential-ended`: the API ' +
        'key that announced it was revoked or has expired, or its owner was erased.',
    ),
  mode: ingestModeSchema,
  dryRun: z.boolean().describe(FILE_DRY_RUN),
  sha256: sha256Schema.describe('As announced.'),
  bytes: z.int().min(1).describe('As announced.'),
  records: z.int().min(1).describe('As announced.'),
  put: uploadTargetSchema.nullable().describe('Where to put the file. Null: the file has arrived.'),
  done: z
    .strictObject({
      bytes: z.int().min(0).describe('Bytes from the beginning of the file.'),
      records: z.int().min(0).describe('Blank lines do not count.'),
      batches: z.int().min(0).describe('Each batch holds at most 1,000 records, and 1 MiB.'),
    })
    .describe('How much of the file is applied.'),
  counts: rowCountsSchema,
  corrections: correctionsSchema,
  firstBeside: firstBesideSchema,
  firstWithheld: firstWithheldSchema,
  refusedIn: z
    .array(
      z.strictObject({
        batch: z.string().describe("The batch's report, at `/api/v1/ingest/batches/{id}`, lists the errors."),
        firstLine: z.int().min(1).describe('The line of the file with which the batch begins.'),
        refused: z.int().min(1).describe("How many of the batch's records were refused."),
      }),
    )
    .meta({ maxItems: REFUSED_BATCHES_MAX })
    .describe('The first hundred batches with refused records.'),
  createdAt: instantSchema,
  finishedAt: instantSchema.nullable().describe('Null until the file is applied or stopped.'),
  generation: z
    .int()
    .min(1)
    .nullable()
    .describe('The first generation that shows everything that was stored. Null: not yet.'),
  publishedAt: instantSchema.nullable(),
});

export type Upload = z.infer<typeof uploadSchema>;
