/**
 * The manifest of an export: a Data Package (version 2.0 of the Data Package Standard). Pure: the same export gives the
 * same bytes.
 */

import type { KeptExport } from '../../../contract/bodies/export-manifest.ts';
import {
  type ColumnType,
  EXPORT_FORMATS,
  EXPORT_TABLES,
  type ExportExtension,
  type ExportTable,
} from '../../../contract/bodies/export-tables.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { ExportFiles } from '../../../storage/records/exports.ts';
import type { SourceSummary, SummarisedSource } from './source-summary.ts';

export interface ExportManifest {
  /** The day of the export, e.g. `2026-11-22`. */
  readonly date: string;
  /** The generation of the table of markets, and its time of publication. */
  readonly generation: number;
  readonly publishedAt: string;
  /** The generation of the observations. */
  readonly logGeneration: number;
  /** The log that the observations follow from. The root is in base64. */
  readonly log: { readonly size: number; readonly root: string };
  /** The files of each table, in order. */
  readonly files: { readonly [Table in ExportTable['name']]: readonly ExportFiles[] };
  readonly sources: SourceSummary;
}

const TITLE = 'Markets and their observations';
const DESCRIPTION =
  'Every market of this service with its newest values, and every version of every observation, with its source and ' +
  'four times: when the value was observed, released, recorded and superseded.';

/** The type of a column in a Table Schema. */
const FIELD_TYPES: { readonly [Type in ColumnType]: string } = {
  text: 'string',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
  instant: 'datetime',
};

/** The Table Schema of a table. It is a separate object, because each part would repeat it. */
export function tableSchema({ columns, primaryKey }: ExportTable): { readonly file: string; readonly text: string } {
  const fields = columns.map(({ name, type, isNullable, description }) => ({
    name,
    type: FIELD_TYPES[type],
    description,
    // Without a format, a Table Schema accepts only instants without a fraction.
    ...(type === 'instant' ? { format: 'any' } : {}),
    ...(isNullable ? {} : { constraints: { required: true } }),
  }));
  const text = canonicalJson({ $schema: 'https://datapackage.org/profiles/2.0/tableschema.json', fields, primaryKey });
  return { file: sha256Hex(text).slice(0, 32), text };
}

/** The name of the object that holds the schema of a table. */
export function schemaFile(table: ExportTable): string {
  return `${table.name}-schema-${tableSchema(table).file}`;
}

/** The body of `datapackage.json`. */
export function dataPackage({
  date,
  generation,
  publishedAt,
  logGeneration,
  log,
  files,
  sources,
}: ExportManifest): string {
  return canonicalJson({
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: 'tidemark-export',
    title: TITLE,
    description: DESCRIPTION,
    version: date,
    created: publishedAt,
    ...(sources.licences.length === 0 ? {} : { licenses: sources.licences.map(licenceOf) }),
    ...(sources.sources.length === 0 ? {} : { sources: sources.sources.map(sourceOf) }),
    sourcesComplete: sources.isComplete,
    sourcesWithoutLicence: sources.withoutLicence,
    date,
    generation,
    log,
    logGeneration,
    resources: EXPORT_TABLES.flatMap((table) =>
      files[table.name].flatMap((some, index) => resourcesOf(table, index, some)),
    ),
  } as Json);
}

function resourcesOf(table: ExportTable, index: number, { file, rows, formats }: ExportFiles): readonly Json[] {
  return (Object.keys(EXPORT_FORMATS) as ExportExtension[]).map((extension) => {
    const { format, contentType } = EXPORT_FORMATS[extension];
    const stored = formats[extension];
    return {
      name: `${table.name}-${index}-${format}`,
      title: `${table.title}, part ${index}`,
      type: 'table',
      path: `parts/${file}.${extension}`,
      format,
      mediatype: contentType,
      ...(extension.endsWith('.gz') ? { compression: 'gz', encoding: 'utf-8' } : {}),
      bytes: stored?.bytes ?? 0,
      hash: `sha256:${stored?.digest}`,
      rows,
      schema: `parts/${schemaFile(table)}.json`,
    };
  });
}

/** A licence has a name of letters, digits and signs; any other text becomes its title. */
function licenceOf(licence: string): Json {
  return /^[\w.-]+$/.test(licence)
    ? { name: licence }
    : { name: licence.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^-+|-+$/g, '') || 'other', title: licence };
}

function sourceOf({ label, url, publisher, licence, attribution }: SummarisedSource): Json {
  return { title: label, path: url, publisher, licence, attribution };
}

/** The manifest of the newest export: the manifest of its day, with the list of kept exports. */
export function withKept(text: string, kept: readonly KeptExport[]): string {
  const { kept: _, ...manifest } = JSON.parse(text) as { readonly [name: string]: Json };
  return canonicalJson(kept.length === 0 ? manifest : { ...manifest, kept: kept.map((each) => ({ ...each })) });
}
