/** The fields of a daily export's manifest on which readers may rely: docs/exports.md. */
import * as z from 'zod';
import { instantSchema } from '../values/metric.ts';
import { publicTextSchema } from '../values/public-text.ts';

/** A bound on the files: the table of markets has at most 1,000,000 rows, and a log of 10,000,000,000 entries has fewer parts. */
const FILES_MAX = 1_000_000;
const SOURCES_MAX = 1_000;
const KEPT_MAX = 10_000;

const nullableText = (words: string) => z.string().nullable().describe(words);

const exportResourceSchema = z.looseObject({
  name: z.string().describe('The table, the number of the part, and the format.'),
  title: z.string().describe('The same for people.'),
  type: z.literal('table'),
  path: z
    .string()
    .regex(/^parts\/(observations|markets)-[\w.-]+$/)
    .describe('The URL of the file, relative to that of the manifest.'),
  format: z.enum(['parquet', 'ndjson', 'csv']).describe('The format of the rows.'),
  mediatype: z.string().describe('The media type of the file.'),
  compression: z.literal('gz').optional(),
  encoding: z.literal('utf-8').optional(),
  bytes: z.int().min(0).describe('The size of the file.'),
  hash: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .describe('The digest of the file.'),
  rows: z.int().min(0).describe('The number of rows in it.'),
  schema: z
    .string()
    .regex(/^parts\/(observations|markets)-schema-[0-9a-f]{32}\.json$/)
    .describe('The Table Schema of its columns: a URL, relative to that of the manifest.'),
});

const exportSourceSchema = z.looseObject({
  title: z.string().describe('The name of the source.'),
  path: z.string().describe('The URL of the source.'),
  publisher: nullableText('Who publishes it. Null: not stated.'),
  licence: nullableText('The licence of its data. Null: not stated.'),
  attribution: nullableText('The words with which to credit it. Null: none are asked for.'),
});

/** The operator's label of a kept export. */
export const keptLabelSchema = publicTextSchema(200).nullable();

const keptExportSchema = z.looseObject({
  date: z.iso
    .date()
    .describe('The day of the export, in UTC. Its manifest stays at `/api/v1/exports/{date}/datapackage.json`.'),
  label: z.string().nullable().describe('What the operator says about it. Null: nothing.'),
});

export type KeptExport = { readonly date: string; readonly label: string | null };

/** `GET /api/v1/exports/latest`, and of a day: a Data Package, version 2.0. Members may be added. */
export const exportManifestSchema = z.looseObject({
  $schema: z.literal('https://datapackage.org/profiles/2.0/datapackage.json'),
  name: z.string(),
  title: z.string().describe('A title for people.'),
  description: z.string(),
  version: z.iso.date().describe('The day of the export, in UTC.'),
  date: z.iso.date().describe('The same.'),
  created: instantSchema.describe('When the generation was published that the table of markets shows.'),
  generation: z.int().min(1).describe('That generation.'),
  logGeneration: z.int().min(1).optional().describe('The generation that the observations show.'),
  log: z
    .looseObject({
      size: z.int().min(0).describe('The number of entries.'),
      root: z.base64().describe('The root hash of its tree.'),
    })
    .describe('The log that the observations show.'),
  sourcesComplete: z.boolean().describe('Whether `sources` and `licenses` name all of them: at most 1,000.'),
  sourcesWithoutLicence: z.int().min(0).describe('How many sources of markets state no licence.'),
  licenses: z
    .array(z.looseObject({ name: z.string(), title: z.string().optional().describe('The licence as it was stated.') }))
    .max(SOURCES_MAX)
    .optional()
    .describe('The licences of the sources, each once.'),
  sources: z.array(exportSourceSchema).max(SOURCES_MAX).optional().describe('The sources of the markets, each once.'),
  kept: z
    .array(keptExportSchema)
    .max(KEPT_MAX)
    .optional()
    .describe('Of the newest export only: earlier ones that the operator keeps, so that they can be cited.'),
  resources: z
    .array(exportResourceSchema)
    .max(FILES_MAX)
    .describe('The files: each part of each table in each format.'),
});
