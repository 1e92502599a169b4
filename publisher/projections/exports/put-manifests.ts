/** Puts the manifest of an export of which all files are in place. */
import { EXPORT_TABLES } from '../../../contract/bodies/export-tables.ts';
import type { ExportWriter } from './export-files.ts';
import { dataPackage, type ExportManifest, schemaFile, tableSchema } from './manifest.ts';

/** @returns the Data Package of the day */
export async function putManifests(writer: ExportWriter, about: Omit<ExportManifest, 'files'>): Promise<string> {
  for (const table of EXPORT_TABLES) {
    await writer.put({ kind: 'export-schema', file: schemaFile(table) }, Buffer.from(tableSchema(table).text));
  }
  const files = { observations: await writer.filesOf('observations'), markets: await writer.filesOf('markets') };
  const text = dataPackage({ ...about, files });
  await writer.putHead({ kind: 'export-package', date: about.date }, text);
  return text;
}
