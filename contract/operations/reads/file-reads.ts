/** The public reads of files: the log and the daily exports. Readers may request a range of their bytes. */
import * as z from 'zod';
import { exportManifestSchema } from '../../bodies/export-manifest.ts';
import { EXPORT_FORMATS } from '../../bodies/export-tables.ts';
import { publicReads, textFile } from '../operation.ts';

const PART = 'observations-000000-0f3c6b1d2e4a59788796a5b4c3d2e1f0';

/** No example: text cannot show these bytes. */
const binarySchema = () => z.string().meta({ format: 'binary' }).optional();

const NOTE_TYPE = 'text/plain';
const GZIP = 'application/gzip';
const TILE_TEXT =
  'Files of 256 entries or hashes; a full one never changes. The index is written in groups of three digits: from tile ' +
  '1,000 on, each group but the last is a path segment of its own after an `x`, such as `x001/234` (C2SP tlog-tiles).';
const PARTIAL_TEXT =
  'The last file of each level is partial. It stays readable for 24 hours after a later checkpoint has grown past it.';

const n = z
  .string()
  .regex(/^[0-9]{3}$/)
  .describe('The index of the tile in three digits: the last group of a greater one.');
const level = z
  .string()
  .max('entries'.length)
  .regex(/^(entries|[0-9]|[1-5][0-9]|6[0-3])$/)
  .describe('The level of the hashes; `entries`: the entries themselves, each after its length in two bytes.');
const width = z
  .string()
  .regex(/^[1-9][0-9]{0,2}$/)
  .describe('The number of its entries or hashes: 1 to 255.');
const date = z.iso.date().describe('A day in UTC.');
const file = z
  .string()
  .max(PART.length)
  .regex(/^(observations|markets)-[0-9]{6}-[0-9a-f]{32}$/)
  .describe('The name of a part, as the manifest has it in `path`.');

const tileSuccess = {
  status: 200,
  description: 'The bytes of the tile',
  mediaType: 'application/octet-stream',
} as const;
const linesSuccess = { status: 200, description: 'One entry on each line, compressed', mediaType: GZIP } as const;

const part = <Extension extends keyof typeof EXPORT_FORMATS>(extension: Extension, words: string) =>
  ({
    path: `/api/v1/exports/parts/{file}.${extension}`,
    summary: `Read a part of an export as ${words}`,
    description:
      'The manifest of an export names its parts. A part is named by its rows, so it never changes; it is kept for at ' +
      'least 35 days after the last manifest that names it.',
    params: z.strictObject({ file }),
    success: {
      status: 200,
      description: 'The rows of the part',
      body: binarySchema(),
      mediaType: EXPORT_FORMATS[extension].contentType,
    },
    example: { params: { file: PART } },
  }) as const;

export const fileReads = publicReads({
  getLogCheckpoint: {
    path: '/api/v1/log/checkpoint',
    summary: 'Read the signed checkpoint of the log',
    description:
      'A signed note (C2SP tlog-checkpoint): the origin, the number of entries, the root of the tree, and signatures. It ' +
      'changes with each generation that has a new entry, so a follower polls it with `If-None-Match`.',
    success: textFile('The checkpoint', NOTE_TYPE, 'Text in UTF-8.'),
    example: {
      response:
        'tidemark.example/log\n262\nEtBvskiq60c+ilJi3b2rlZvH6yNwc1MuGaSFHp0mZb8=\n\n— tidemark.example/log ' +
        'SMMngnHbB1kB0/N/ZShH/1ZdGgRd2Jex9jBWLWKfB/+RNcOOFZp6UY1/B9kN+IFS7FCPUTb/Ry8pHYRHKqocuGY9GwU=\n',
    },
  },
  getLogVkey: {
    path: '/api/v1/log/vkey',
    summary: 'Read the keys that sign the log now',
    description: 'Verifier keys (C2SP signed-note), newest first, one on each line.',
    success: textFile('The keys', NOTE_TYPE, 'Text in UTF-8.'),
    example: { response: 'tidemark.example/log+48c32782+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs\n' },
  },
  getLogTile: {
    path: '/api/v1/log/tile/{level}/{n}',
    summary: 'Read a full tile of the log: 256 hashes or entries',
    description: TILE_TEXT,
    params: z.strictObject({ level, n }),
    success: { ...tileSuccess, body: binarySchema() },
    example: { params: { level: '0', n: '000' } },
  },
  getPartialLogTile: {
    path: '/api/v1/log/tile/{level}/{n}.p/{width}',
    summary: 'Read the last tile of a level of the log, which is partial',
    description: PARTIAL_TEXT,
    params: z.strictObject({ level, n, width }),
    success: { ...tileSuccess, body: binarySchema() },
    example: { params: { level: 'entries', n: '001', width: '6' } },
  },
  getLogLines: {
    path: '/api/v1/log/ndjson/{n}.gz',
    summary: 'Read 256 entries of the log as NDJSON',
    description: `Line i of file n, both from 0, is entry 256 × n + i. ${TILE_TEXT}`,
    params: z.strictObject({ n }),
    success: { ...linesSuccess, body: binarySchema() },
    example: { params: { n: '000' } },
  },
  getPartialLogLines: {
    path: '/api/v1/log/ndjson/{n}.p/{width}.gz',
    summary: 'Read the last entries of the log as NDJSON',
    description: PARTIAL_TEXT,
    params: z.strictObject({ n, width }),
    success: { ...linesSuccess, body: binarySchema() },
    example: { params: { n: '001', width: '6' } },
  },
  getExport: {
    path: '/api/v1/exports/latest',
    summary: 'Read the manifest of the newest daily export',
    description:
      'A Data Package (version 2.0). It names the parts with their sizes and digests. Not every deployment publishes ' +
      'exports: see `projections` of the snapshot.',
    success: { status: 200, description: 'The manifest', body: exportManifestSchema },
    example: { response: MANIFEST() },
  },
  getExportOfDay: {
    path: '/api/v1/exports/{date}/datapackage.json',
    summary: 'Read the manifest of the export of a day',
    description:
      'Kept for 35 days, or for good if the operator keeps it: see `kept` of the newest manifest. The paths in it are ' +
      'relative to its own URL.',
    params: z.strictObject({ date }),
    success: { status: 200, description: 'The manifest', body: exportManifestSchema },
    example: { params: { date: '2026-10-02' }, response: MANIFEST() },
  },
  getExportParquet: part('parquet', 'Parquet'),
  getExportNdjson: part('ndjson.gz', 'NDJSON, compressed'),
  getExportCsv: part('csv.gz', 'CSV, compressed'),
});

function MANIFEST() {
  return {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: 'tidemark-export',
    title: 'Markets and their observations',
    description: 'Every market of this service with its newest values.',
    version: '2026-10-02',
    date: '2026-10-02',
    created: '2026-10-01T12:00:00.000Z',
    generation: 4,
    log: { size: 262, root: 'EtBvskiq60c+ilJi3b2rlZvH6yNwc1MuGaSFHp0mZb8=' },
    sourcesComplete: true,
    sourcesWithoutLicence: 0,
    licenses: [{ name: 'CC0-1.0' }],
    sources: [
      {
        title: 'currency-api daily release',
        path: 'https://github.com/fawazahmed0/exchange-api',
        publisher: null,
        licence: 'CC0-1.0',
        attribution: null,
      },
    ],
    resources: [
      {
        name: 'observations-0-parquet',
        title: 'Observations, part 0',
        type: 'table',
        path: `parts/${PART}.parquet`,
        format: 'parquet',
        mediatype: 'application/vnd.apache.parquet',
        bytes: 18_342,
        hash: `sha256:${'9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}`,
        rows: 57,
        schema: 'parts/observations-schema-2c26b46b68ffc68ff99b453c1d304134.json',
      },
    ],
  } as const;
}
