/**
 * The rows of a history's files, collected as its observations arrive. Pure.
 *
 *   [ kept closed pages ][ observations that are read again ]
 *   [ prefix: bytes of the published files ][ rendered rows ]
 *
 * A file shows the newest version of each observation. So an append renders only the rows after the last kept page. If a
 * file is too long, its rows are counted but not kept.
 */
import {
  FILE_BYTES_MAX,
  FILE_ROWS_MAX,
  HISTORY_FILE_FORMS,
  HISTORY_FORMATS,
  type HistoryFormat,
} from '../../../contract/bodies/history-rows.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import type { ObservationValue } from '../../../storage/records/markets.ts';
import type { FileSize, FilesPosition } from '../../../storage/records/publication.ts';
import { publicObservation } from '../../core/bodies/render.ts';

/** One value for each format. */
export type InFormats<Some> = { readonly [Format in HistoryFormat]: Some };

export interface HistoryFile {
  /** Null: the whole history. */
  readonly year: string | null;
  readonly size: FileSize;
  /** The bytes of the files. Null if the rows were not kept. */
  readonly bodies: InFormats<Buffer> | null;
}

/** Rows before the first observation to add, without headers; null: unknown, because the file was too long. */
export interface FilePrefixes {
  /** The rows of the years before the open one. */
  readonly earlier: InFormats<Buffer> | null;
  readonly ofYear: InFormats<Buffer> | null;
}

const NO_ROWS: InFormats<Buffer> = { csv: Buffer.alloc(0), ndjson: Buffer.alloc(0) };
export const NO_PREFIXES: FilePrefixes = { earlier: NO_ROWS, ofYear: NO_ROWS };

const NO_SIZE: FileSize = { rows: 0, csv: 0, ndjson: 0 };
/** The position before the first observation of a history. */
export const FILES_START: FilesPosition = { all: NO_SIZE, year: '', ofYear: NO_SIZE };

export function isFileTooLong({ rows, csv, ndjson }: FileSize): boolean {
  return rows > FILE_ROWS_MAX || csv > FILE_BYTES_MAX || ndjson > FILE_BYTES_MAX;
}

export class HistoryFiles {
  readonly #quantity: number;
  #all: FileSize;
  /** The rows of the years before the open one. Null: the file of the whole history is too long. */
  #earlier: Rows | null;
  #year: string;
  #ofYear: FileSize;
  #rows: Rows | null;
  #finished: HistoryFile[] = [];
  /** The number of added observations, superseded ones included. */
  added = 0;

  /** @param quantity the quantity that one price of the market buys */
  constructor(quantity: number, start: FilesPosition, prefixes: FilePrefixes) {
    this.#quantity = quantity;
    this.#all = start.all;
    this.#earlier = prefixes.earlier && rowsOf(prefixes.earlier);
    this.#year = start.year;
    this.#ofYear = start.ofYear;
    this.#rows = prefixes.ofYear && rowsOf(prefixes.ofYear);
  }

  /** Adds the next observation, oldest first. `order` is its place in the history. */
  add(order: string, observation: ObservationValue): void {
    this.added++;
    if (observation.supersededBy !== null) return;
    const year = order.slice(0, '2026'.length);
    if (year !== this.#year) this.#openYear(year);
    const row = publicObservation(observation, this.#quantity) as unknown as PublicObservation;
    const lines = { csv: HISTORY_FILE_FORMS.csv.line(row), ndjson: HISTORY_FILE_FORMS.ndjson.line(row) };
    this.#all = grown(this.#all, lines);
    this.#ofYear = grown(this.#ofYear, lines);
    if (isFileTooLong(this.#all)) this.#earlier = null;
    if (isFileTooLong(this.#ofYear)) this.#rows = null;
    for (const format of HISTORY_FORMATS) this.#rows?.[format].add(lines[format]);
  }

  /** How far the files reach. */
  get position(): FilesPosition {
    return { all: this.#all, year: this.#year, ofYear: this.#ofYear };
  }

  /** The finished years that `takeYears` has not returned yet. */
  get finishedYears(): readonly string[] {
    return this.#finished.flatMap(({ year }) => year ?? []);
  }

  /** The years that were finished since the last call. */
  takeYears(): readonly HistoryFile[] {
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }

  /** To be called once, after the last observation. Gives the file of the whole history. */
  finish(): HistoryFile {
    this.#finishYear();
    return { year: null, size: this.#all, bodies: this.#earlier && bodiesOf(this.#earlier) };
  }

  #openYear(year: string): void {
    this.#finishYear();
    this.#year = year;
    this.#ofYear = NO_SIZE;
    this.#rows = rowsOf(NO_ROWS);
  }

  #finishYear(): void {
    const rows = this.#rows;
    if (this.#ofYear.rows > 0) {
      this.#finished.push({ year: this.#year, size: this.#ofYear, bodies: rows && bodiesOf(rows) });
    }
    if (rows !== null) for (const format of HISTORY_FORMATS) this.#earlier?.[format].append(rows[format]);
  }
}

function grown({ rows, csv, ndjson }: FileSize, lines: InFormats<string>): FileSize {
  return {
    rows: rows + 1,
    csv: csv + Buffer.byteLength(lines.csv),
    ndjson: ndjson + Buffer.byteLength(lines.ndjson),
  };
}

type Rows = InFormats<GrowingRows>;

function rowsOf({ csv, ndjson }: InFormats<Buffer>): Rows {
  return { csv: new GrowingRows(csv), ndjson: new GrowingRows(ndjson) };
}

function bodiesOf({ csv, ndjson }: Rows): InFormats<Buffer> {
  return { csv: csv.after(HISTORY_FILE_FORMS.csv.header), ndjson: ndjson.after(HISTORY_FILE_FORMS.ndjson.header) };
}

const BLOCK_ROWS = 256;

/** Kept as bytes outside of the heap: the garbage collector would copy a year of rows again and again, and then keep it. */
class GrowingRows {
  readonly #blocks: Buffer[];
  #open: string[] = [];

  constructor(rows: Buffer) {
    this.#blocks = [rows];
  }

  add(row: string): void {
    if (this.#open.push(row) === BLOCK_ROWS) this.#pack();
  }

  /** Shares the blocks of the other, which must not grow any more. */
  append(other: GrowingRows): void {
    this.#pack();
    other.#pack();
    this.#blocks.push(...other.#blocks);
  }

  after(header: string): Buffer {
    this.#pack();
    return Buffer.concat([Buffer.from(header), ...this.#blocks]);
  }

  #pack(): void {
    this.#blocks.push(Buffer.from(this.#open.join('')));
    this.#open = [];
  }
}
