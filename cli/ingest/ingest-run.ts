/** One file on its way into the service: what was asked, what is done, what is known. */
import type { BatchReport, IngestMode } from '../../contract/ingest/ingest-records.ts';
import type { FileFault } from '../../mapping/check/fault-groups.ts';
import { type CsvMapping, columnsOfDate } from '../../mapping/declared/csv-mapping.ts';
import { columnsOf } from '../../mapping/values/template.ts';
import type { ProgressLine } from '../../server/terminal/progress-line.ts';
import type { Client } from '../http/client.ts';
import type { FaultLog } from './fault-log.ts';
import type { Input } from './open-input.ts';
import type { Asserted, SourceForm } from './source-records.ts';

export interface IngestOptions {
  readonly mode: IngestMode;
  readonly partial: boolean;
  /** A run has no port that an upload could go to. */
  readonly inBatches?: true;
  readonly dryRun: boolean;
  /** Fields that every observation of the file gets: `outlierConfirmed`, `reinstated`. */
  readonly asserted: Asserted;
  /** The file has all observations of its markets, metrics and sources: those that it lacks are reported. */
  readonly complete?: boolean;
  /** And withdrawn. */
  readonly retractMissing?: boolean;
  /** Why they are withdrawn, for readers. */
  readonly publicReason?: string;
  /** Of the observations that are published, which the file must have if missing ones are withdrawn. Default: none. */
  readonly minimumShare?: number;
  /** The name of the run: the same run sends the same idempotency keys for the same parts. */
  readonly runId: string;
  /** Seconds to wait for the generation that shows the last records. */
  readonly wait: number;
}

export interface IngestRun extends IngestOptions {
  readonly client: Client;
  readonly input: Input;
  readonly source: SourceForm;
  readonly faults: FaultLog;
  readonly progress: ProgressLine;
  readonly totals: IngestTotals;
}

export interface IngestTotals {
  /** Records that were sent and worked off. */
  records: number;
  /** Definitions of markets that were read. */
  definitions: number;
  accepted: number;
  unchanged: number;
  /** Records that the service refused, and rows of which none could be made. */
  refused: number;
  /** Those of the refused rows of which no record could be made: they were not sent. */
  withoutRecord: number;
  /** Values of the rows that were read, which the mapping rounded. */
  rounded: number;
  /** The ids of its batches, or of its upload: `tidemark undo` takes them. None in a dry run. */
  readonly sentAs: string[];
  /** The generation that shows what was stored. Null: not yet, or nothing was. */
  generation: number | null;
  /** The first line of the part that was refused as a whole; nothing from there on is in. Null: no part was. */
  stoppedAtLine: number | null;
}

export function newTotals(): IngestTotals {
  const counts = {
    records: 0,
    definitions: 0,
    accepted: 0,
    unchanged: 0,
    refused: 0,
    withoutRecord: 0,
    rounded: 0,
  };
  return { ...counts, sentAs: [], generation: null, stoppedAtLine: null };
}

/** Counts each row once, however many faults it has. */
export function addRowFaults({ faults, totals }: IngestRun, rows: readonly FileFault[]): void {
  for (const fault of rows) faults.add(fault, null);
  const count = new Set(rows.map(({ line, row = 0 }) => `${line} ${row}`)).size;
  totals.refused += count;
  totals.withoutRecord += count;
}

/** Of the file as it lies on the disk. Null: its length is not known. */
export function shareOf({ sizeBytes, position }: Input): number | null {
  return sizeBytes === null || sizeBytes === 0 ? null : Math.min(1, position() / sizeBytes);
}

/**
 * Takes over the faults of a report.
 *
 * @param lineOf the line of the person's file for a line of the report; null: a definition that was only repeated
 * @returns the number of refused records that are repeated definitions: they were counted in their own part
 */
export function addReportFaults(
  { faults, source }: IngestRun,
  { id, errors }: BatchReport,
  lineOf: (line: number) => number | null,
): number {
  const repeated = new Set<number>();
  for (const { line, index, pointer, code, detail } of errors) {
    const place = lineOf(line ?? index + 1);
    if (place === null) repeated.add(index);
    else faults.add({ line: place, column: columnAt(pointer, source), code, detail, pointer }, id);
  }
  return repeated.size;
}

/** The column of a CSV file, or the field of a record. Null: the whole row, or no single column. */
function columnAt(pointer: string, source: SourceForm): string | null {
  const [, field = ''] = pointer.split('/');
  if (source.form !== 'csv') return pointer === '' ? null : pointer.slice(1).replaceAll('/', '.');
  const [column, ...others] = columnsOfField(source.mapping)[field] ?? [];
  return column === undefined || others.length > 0 ? null : column;
}

function columnsOfField({ observation, market }: CsvMapping): Readonly<Record<string, readonly string[]>> {
  const value = [observation.value.column];
  const slug = columnsOf(market.slug);
  return {
    ...{ amountMinor: value, value, sourceValue: value, observedAt: columnsOfDate(observation.date) },
    currency: columnsOf(observation.currency),
    sourceUrl: columnsOf(observation.sourceUrl),
    sourceLabel: columnsOf(observation.sourceLabel),
    ...{ market: slug, slug, name: columnsOf(market.name), kind: columnsOf(market.kind) },
    nativeCurrency: columnsOf(market.nativeCurrency),
  };
}
