/** Large files for ingest: announced here, put elsewhere, applied in batches. */
import * as z from 'zod';
import { ingestModeSchema } from './ingest-records.ts';
import { instantSchema } from './metric.ts';

/** S3's limit on one PUT is 5 GiB. */
export const UPLOAD_BYTES_MAX = 5_000_000_000;

/** As many lines as the largest file could have, with no more than a slug in each. */
export const UPLOAD_RECORDS_MAX = 50_000_000;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be a SHA-256 in lower-case hex' });

/** `POST /api/v1/ingest/uploads`: what is going to be put. */
export const uploadRequestSchema = z.strictObject({
  sha256: sha256Schema.describe('SHA-256 of the file, in hex. Another file is refused where it is put.'),
  bytes: z.int().min(1).max(UPLOAD_BYTES_MAX).describe('Length of the file.'),
  records: z
    .int()
    .min(1)
    .max(UPLOAD_RECORDS_MAX)
    .describe(
      'How many records it holds at most: counted against `ingest-rows-per-day`. What comes after is not taken in.',
    ),
  mode: ingestModeSchema.default('append'),
});

export const uploadTargetSchema = z.strictObject({
  url: z
    .string()
    .describe('Where to PUT the file: absolute, or relative to this URL. Keep it secret: it is a credential.'),
  headers: z.record(z.string(), z.string()).describe('To be sent exactly so, without `Authorization`.'),
  expiresAt: instantSchema.describe('From then on, read the upload again for another target.'),
});

/** `GET /api/v1/ingest/uploads/{id}`: what has come of it. */
export const uploadSchema = z.strictObject({
  id: z.string(),
  state: z
    .enum(['awaiting-content', 'queued', 'applying', 'applied', 'stopped'])
    .describe(
      'From `awaiting-content` by way of `queued` and `applying` to `applied`; or to `stopped`, at more records than were ' +
        'announced: what came before them is taken in.',
    ),
  mode: ingestModeSchema,
  sha256: sha256Schema.describe('As announced.'),
  bytes: z.int().min(1).describe('As announced.'),
  records: z.int().min(1).describe('As announced.'),
  put: uploadTargetSchema.nullable().describe('Where to put the file; null once it is there.'),
  done: z
    .strictObject({
      bytes: z.int().min(0).describe('Of the file, from its beginning.'),
      records: z.int().min(0).describe('Blank lines are none.'),
      batches: z.int().min(0).describe('Each holds at most 1,000 records, and 1 MiB.'),
    })
    .describe('How far it has been applied.'),
  counts: z
    .strictObject({
      accepted: z.int().min(0).describe('Taken in.'),
      unchanged: z.int().min(0).describe('Known already, with the same content.'),
      refused: z.int().min(0).describe('Refused for at least one error, and left out.'),
    })
    .describe('Records so far.'),
  refusedIn: z
    .array(
      z.strictObject({
        batch: z.string().describe('Its report, at `/api/v1/ingest/batches/{id}`, has the errors.'),
        firstLine: z.int().min(1).describe("The file's line that is the first of the batch."),
        refused: z.int().min(1).describe('How many of its records were refused.'),
      }),
    )
    .describe('The first hundred batches with refused records.'),
  createdAt: instantSchema,
  finishedAt: instantSchema.nullable().describe('Null until it is applied or stopped.'),
  generation: z
    .int()
    .min(1)
    .nullable()
    .describe('The first generation that shows all that was taken in; null until then.'),
  publishedAt: instantSchema.nullable(),
});

export type Upload = z.infer<typeof uploadSchema>;
