import { EXPORT_FORMATS, type ExportExtension } from '../../../contract/bodies/export-tables.ts';
import type { ExportFileKind, PublicObjectName } from '../../../contract/files/public-object-names.ts';

const KINDS: { readonly [Extension in ExportExtension]: ExportFileKind } = {
  parquet: 'export-parquet',
  'ndjson.gz': 'export-ndjson',
  'csv.gz': 'export-csv',
};

/** By extension. */
export function objectsOfFile(file: string): readonly (readonly [ExportExtension, PublicObjectName])[] {
  return (Object.keys(EXPORT_FORMATS) as ExportExtension[]).map((extension) => [
    extension,
    { kind: KINDS[extension], file },
  ]);
}
