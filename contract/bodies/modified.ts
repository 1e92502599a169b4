/** The markets that have changed last, for programs that fetch only changed markets. Without the schema library. */
import { csvRecord } from '../values/csv.ts';
import { millisecondInstant } from '../values/instants.ts';

/** The most rows of the file: some 500 KB. */
export const MODIFIED_ROWS_MAX = 10_000;

/** A market as the list shows it. */
export interface ModifiedRow {
  readonly slug: string;
  readonly revision: number;
  /** Null: unknown. */
  readonly updatedAt: string | null;
}

const HEADER = 'slug,revision,updatedAt';
const ROW = /^([a-z0-9-]+),(\d+),([^,]*)$/;

/** The markets that changed last, in the order of the file. Markets with the same moment are ordered by slug. */
export function lastModified<Row extends Pick<ModifiedRow, 'slug' | 'updatedAt'>>(
  rows: readonly Row[],
): readonly Row[] {
  const placed = rows.map((row) => ({ row, at: row.updatedAt === null ? '' : millisecondInstant(row.updatedAt) }));
  placed.sort((one, other) => {
    if (one.at !== other.at) return one.at > other.at ? -1 : 1;
    return one.row.slug < other.row.slug ? -1 : 1;
  });
  return placed.slice(0, MODIFIED_ROWS_MAX).map(({ row }) => row);
}

/** The body of `GET /api/v1/modified.csv`. @param rows in order */
export function modifiedCsv(rows: readonly ModifiedRow[]): string {
  const records = rows.map(({ slug, revision, updatedAt }) => csvRecord([slug, revision, updatedAt]));
  return `${[HEADER, ...records].join('\r\n')}\r\n`;
}

/** The rows of the file, by slug. Null: the text has another form, or names a market twice. */
export function readModifiedCsv(text: string): ReadonlyMap<string, ModifiedRow> | null {
  const lines = text.split('\r\n').slice(1, -1);
  const rows = lines.map((line): ModifiedRow => {
    const [, slug = '', revision = '', updatedAt = ''] = ROW.exec(line) ?? [];
    return { slug, revision: Number(revision), updatedAt: updatedAt === '' ? null : updatedAt };
  });
  const bySlug = new Map(rows.map((row) => [row.slug, row]));
  return modifiedCsv(rows) === text && bySlug.size === rows.length ? bySlug : null;
}
