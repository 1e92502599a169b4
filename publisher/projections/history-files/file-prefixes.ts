/** Reads the beginning of a history's files from the store, so that an append need not render it again. */
import { HISTORY_FILE_FORMS, HISTORY_FORMATS, type HistoryFormat } from '../../../contract/bodies/history-rows.ts';
import { type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { FileSize, FilesPosition, PublishedFile } from '../../../storage/records/publication.ts';
import { type FilePrefixes, type InFormats, isFileTooLong, NO_PREFIXES } from './history-files.ts';

export function historyFileName(slug: string, format: HistoryFormat, year: string | null): PublicObjectName {
  return year === null
    ? { kind: `history-${format}` as const, slug }
    : { kind: `history-year-${format}` as const, slug, year };
}

/** The published files of one history, from the ledger's records. */
export interface KnownFiles {
  readonly slug: string;
  readonly all: PublishedFile | null;
  readonly years: ReadonlyMap<string, PublishedFile>;
}

/**
 * The rows up to this position. Null if a published file is missing or differs from its record: then everything must be
 * rendered.
 */
export async function readPrefixes(
  objects: ObjectStore,
  known: KnownFiles,
  start: FilesPosition,
): Promise<FilePrefixes | null> {
  if (start.all.rows === 0) return NO_PREFIXES;
  const { slug } = known;
  const read = (file: PublishedFile | null, year: string | null) => readFile(objects, slug, file, year);
  if (!isFileTooLong(start.all) && known.all?.isTooLong === undefined) {
    const body = await read(known.all, null);
    // The newest year's rows come last in the file of the whole history.
    const year = less(start.all, start.ofYear);
    return body && { earlier: slice(body, NOTHING, year), ofYear: slice(body, year, start.all) };
  }
  const year = known.years.get(start.year) ?? null;
  if (isFileTooLong(start.ofYear) || year?.isTooLong !== undefined) return { earlier: null, ofYear: null };
  const body = await read(year, start.year);
  return body && { earlier: null, ofYear: slice(body, NOTHING, start.ofYear) };
}

type Sizes = Pick<FileSize, HistoryFormat>;
const NOTHING: Sizes = { csv: 0, ndjson: 0 };

const less = (one: Sizes, other: Sizes): Sizes => ({ csv: one.csv - other.csv, ndjson: one.ndjson - other.ndjson });

async function readFile(
  objects: ObjectStore,
  slug: string,
  file: PublishedFile | null,
  year: string | null,
): Promise<InFormats<Buffer> | null> {
  const read = async (format: HistoryFormat) => {
    const found = await objects.get(publicKey(historyFileName(slug, format, year)));
    if (found.kind !== 'found' || sha256Hex(found.body) !== file?.[format]) return null;
    return Buffer.from(found.body.buffer, found.body.byteOffset, found.body.byteLength);
  };
  const [csv, ndjson] = await Promise.all(HISTORY_FORMATS.map(read));
  return csv && ndjson ? { csv, ndjson } : null;
}

/** @param from the position in bytes, without the header */
function slice(bodies: InFormats<Buffer>, from: Sizes, to: Sizes): InFormats<Buffer> {
  const rowsOf = (format: HistoryFormat): Buffer => {
    const header = Buffer.byteLength(HISTORY_FILE_FORMS[format].header);
    return bodies[format].subarray(header + from[format], header + to[format]);
  };
  return { csv: rowsOf('csv'), ndjson: rowsOf('ndjson') };
}
