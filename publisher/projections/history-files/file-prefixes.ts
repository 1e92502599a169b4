/** Reads the beginning of a history's files from what is published, so that an append need not render it again. */
import { HISTORY_FILE_FORMS, HISTORY_FORMATS, type HistoryFormat } from '../../../contract/history-rows.ts';
import type { PublicObjectName } from '../../../contract/public-object-names.ts';
import { publicKey } from '../../../contract/public-objects.ts';
import type { ObjectStore } from '../../../storage/object-store.ts';
import type { FileSize, FilesPosition, PublishedFile } from '../../../storage/records/publication.ts';
import { sha256Hex } from '../../../storage/sha256.ts';
import { type FilePrefixes, type FileTexts, isFileTooLong, NO_PREFIXES } from './history-files.ts';

/** The object of a file. */
export function historyFileName(slug: string, format: HistoryFormat, year: string | null): PublicObjectName {
  return year === null
    ? { kind: `history-${format}` as const, slug }
    : { kind: `history-year-${format}` as const, slug, year };
}

/** The published files of one history, by the ledger's records. */
export interface KnownFiles {
  readonly slug: string;
  readonly all: PublishedFile | null;
  readonly years: ReadonlyMap<string, PublishedFile>;
}

/**
 * The rows up to this position. Null if a published file is missing or is not the recorded one: then everything must be
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
    // The whole history ends with the rows of its newest year.
    return (
      body && { all: slice(body, NOTHING, start.all), ofYear: slice(body, less(start.all, start.ofYear), start.all) }
    );
  }
  const year = known.years.get(start.year) ?? null;
  if (isFileTooLong(start.ofYear) || year?.isTooLong !== undefined) return { all: null, ofYear: null };
  const body = await read(year, start.year);
  return body && { all: null, ofYear: slice(body, NOTHING, start.ofYear) };
}

type Sizes = Pick<FileSize, HistoryFormat>;
const NOTHING: Sizes = { csv: 0, ndjson: 0 };

const less = (one: Sizes, other: Sizes): Sizes => ({ csv: one.csv - other.csv, ndjson: one.ndjson - other.ndjson });

type Bodies = { readonly [Format in HistoryFormat]: Buffer };

async function readFile(
  objects: ObjectStore,
  slug: string,
  file: PublishedFile | null,
  year: string | null,
): Promise<Bodies | null> {
  const read = async (format: HistoryFormat) => {
    const found = await objects.get(publicKey(historyFileName(slug, format, year)));
    if (found.kind !== 'found' || sha256Hex(found.body) !== file?.[format]) return null;
    return Buffer.from(found.body.buffer, found.body.byteOffset, found.body.byteLength);
  };
  const [csv, ndjson] = await Promise.all(HISTORY_FORMATS.map(read));
  return csv && ndjson ? { csv, ndjson } : null;
}

/** @param from bytes without the header */
function slice(bodies: Bodies, from: Sizes, to: Sizes): FileTexts {
  const textOf = (format: HistoryFormat): string => {
    const header = Buffer.byteLength(HISTORY_FILE_FORMS[format].header);
    return bodies[format].subarray(header + from[format], header + to[format]).toString('utf8');
  };
  return { csv: textOf('csv'), ndjson: textOf('ndjson') };
}
