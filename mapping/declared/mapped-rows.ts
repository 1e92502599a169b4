import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { RowRefusal } from '../input/row-columns.ts';

/**
 * A record from a line of the file. A market's record comes directly before its first accepted observation: rows without an
 * observation define no market.
 */
export interface MappedRecord {
  readonly kind: 'record';
  readonly line: number;
  readonly record: IngestRecordInput;
}

/** The reason why a line of the file gave no record. */
export interface MappedRefusal extends RowRefusal {
  readonly kind: 'refusal';
  readonly line: number;
  /** The number of the row, from 1: rows of a JSON document may share a line. Left out: the whole file is refused. */
  readonly row?: number;
  /** The market of the row, if it could be determined. */
  readonly market?: string;
  /** The identity of an observation about which an earlier row says something else. */
  readonly contradicts?: string;
  /** Only facts are left out, in all rows: no row is refused. */
  readonly isOfFacts?: true;
}

/** The results of one row. */
export interface MappedRow {
  readonly kind: 'row';
  readonly line: number;
  /** The number of values in the row: several in a wide table, none in an unreadable row. */
  readonly values: number;
  /** The number of values that the mapping leaves out: blank ones, and those of rows that a table does not list. */
  readonly leftOut: number;
  readonly results: readonly (MappedRecord | MappedRefusal)[];
}
