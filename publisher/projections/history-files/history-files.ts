/**
 * The rows of a history's files, collected as its observations arrive. Pure.
 *
 *   [ kept closed pages ][ observations that are read again ]
 *   [ prefix: bytes of the published files ][ rendered rows ]
 *
 * A file shows the newest version of each observation. An append therefore renders only the rows behind the last kept
 * page. Of a file that is too long, the rows are counted and not kept.
 */
import {
  FILE_BYTES_MAX,
  FILE_ROWS_MAX,
  HISTORY_FILE_FORMS,
  HISTORY_FORMATS,
  type HistoryFormat,
} from '../../../contract/history-rows.ts';
import type { PublicObservation } from '../../../contract/metric.ts';
import type { ObservationValue } from '../../../storage/records/markets.ts';
import type { FileSize, FilesPosition } from '../../../storage/records/publication.ts';
import { publicObservation } from '../../core/bodies/render.ts';

/** Rows in both formats, without headers. */
export type FileTexts = { readonly [Format in HistoryFormat]: string };

export interface HistoryFile {
  /** Null: the whole history. */
  readonly year: string | null;
  readonly size: FileSize;
  /** Null if they were not kept. */
  readonly texts: FileTexts | null;
}

/** Texts before the first observation; null: not known, because the file was too long. */
export interface FilePrefixes {
  readonly all: FileTexts | null;
  readonly ofYear: FileTexts | null;
}

const NO_TEXTS: FileTexts = { csv: '', ndjson: '' };
export const NO_PREFIXES: FilePrefixes = { all: NO_TEXTS, ofYear: NO_TEXTS };

const NO_SIZE: FileSize = { rows: 0, csv: 0, ndjson: 0 };
/** Before the first observation of a history. */
export const FILES_START: FilesPosition = { all: NO_SIZE, year: '', ofYear: NO_SIZE };

export function isFileTooLong({ rows, csv, ndjson }: FileSize): boolean {
  return rows > FILE_ROWS_MAX || csv > FILE_BYTES_MAX || ndjson > FILE_BYTES_MAX;
}

export class HistoryFiles {
  readonly #quantity: number;
  readonly #all: GrowingFile;
  #ofYear: GrowingFile;
  #finished: HistoryFile[] = [];

  /** @param quantity that one price of the market buys */
  constructor(quantity: number, start: FilesPosition, prefixes: FilePrefixes) {
    this.#quantity = quantity;
    this.#all = new GrowingFile(null, start.all, prefixes.all);
    this.#ofYear = new GrowingFile(start.year, start.ofYear, prefixes.ofYear);
  }

  /** Takes the next observation, oldest first. `order` is its place in the history. */
  add(order: string, observation: ObservationValue): void {
    if (observation.supersededBy !== null) return;
    const year = order.slice(0, '2026'.length);
    if (year !== this.#ofYear.year) {
      this.#finishYear();
      this.#ofYear = new GrowingFile(year, NO_SIZE, NO_TEXTS);
    }
    const row = publicObservation(observation, this.#quantity) as unknown as PublicObservation;
    const lines = { csv: HISTORY_FILE_FORMS.csv.line(row), ndjson: HISTORY_FILE_FORMS.ndjson.line(row) };
    this.#all.add(lines);
    this.#ofYear.add(lines);
  }

  /** How far the files reach. */
  get position(): FilesPosition {
    return { all: this.#all.size, year: this.#ofYear.year ?? '', ofYear: this.#ofYear.size };
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
    return this.#all.file;
  }

  #finishYear(): void {
    const { file } = this.#ofYear;
    if (file.size.rows > 0) this.#finished.push(file);
  }
}

class GrowingFile {
  readonly year: string | null;
  #size: FileSize;
  /** Pieces of its text; null if it is too long. */
  #pieces: { readonly [Format in HistoryFormat]: string[] } | null;

  constructor(year: string | null, size: FileSize, texts: FileTexts | null) {
    this.year = year;
    this.#size = size;
    this.#pieces = texts === null ? null : { csv: [texts.csv], ndjson: [texts.ndjson] };
  }

  add(lines: FileTexts): void {
    this.#size = {
      rows: this.#size.rows + 1,
      csv: this.#size.csv + Buffer.byteLength(lines.csv),
      ndjson: this.#size.ndjson + Buffer.byteLength(lines.ndjson),
    };
    if (isFileTooLong(this.#size)) this.#pieces = null;
    for (const format of HISTORY_FORMATS) this.#pieces?.[format].push(lines[format]);
  }

  get size(): FileSize {
    return this.#size;
  }

  get file(): HistoryFile {
    const pieces = this.#pieces;
    const texts = pieces && { csv: pieces.csv.join(''), ndjson: pieces.ndjson.join('') };
    return { year: this.year, size: this.#size, texts };
  }
}
