/** The ingest of one file: its options, its progress and its results. */
import type { BatchReport, IngestMode } from '../../contract/ingest/ingest-records.ts';
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import {
  CORRECTIONS_MAX,
  ROW_COUNT_PARTS,
  type ShownBeside,
  type ShownCorrection,
  type ShownWithheld,
} from '../../contract/ingest/row-counts.ts';
import type { FileFault } from '../../mapping/check/fault-groups.ts';
import type { FirstValue } from '../../mapping/check/first-value.ts';
import { type CsvMapping, columnsOfDate } from '../../mapping/declared/csv-mapping.ts';
import { columnsOf } from '../../mapping/values/template.ts';
import type { ProgressLine } from '../../server/terminal/progress-line.ts';
import type { Client } from '../http/client.ts';
import type { MarketNames } from './contradictions.ts';
import type { FaultLog } from './fault-log.ts';
import type { FileContents } from './file-contents.ts';
import { inWordsOfMapping } from './mapping-words.ts';
import type { Input } from './open-input.ts';
import type { Asserted, SourceForm } from './source-records.ts';

export interface IngestOptions {
  readonly mode: IngestMode;
  readonly partial: boolean;
  /** True for `tidemark run`, whose API has no port for uploads. */
  readonly inBatches?: true;
  readonly dryRun: boolean;
  /** Fields that every observation of the file gets: `outlierConfirmed`, `reinstated`. */
  readonly asserted: Asserted;
  /**
   * Gets the contents of the files, which together should have all observations of their markets, metrics and sources: missing
   * ones are reported.
   */
  readonly complete?: FileContents;
  /** The name of all files together, for messages about missing observations. Default: that of the file. */
  readonly completeName?: string;
  /** Missing observations are also withdrawn. */
  readonly retractMissing?: boolean;
  readonly publicReason?: string;
  /** The share of the published observations that the file must have before missing ones are withdrawn. Default: none. */
  readonly minimumShare?: number;
  /** The markets of files that the same command has sent before. Default: none. */
  readonly names?: MarketNames;
  /** The name of the run. A repeated run with the same name sends the same idempotency keys for the same parts. */
  readonly runId: string;
  /** Seconds to wait for the generation that shows the last records. */
  readonly wait: number;
  /** Whether a dry run prints the first corrections. */
  readonly showsCorrections?: true;
  /** Called when the service has received a part of a file: from then on, an interrupted run can be resumed. */
  readonly onReceived?: () => void;
}

export interface IngestRun extends IngestOptions {
  readonly names: MarketNames;
  readonly client: Client;
  readonly input: Input;
  readonly source: SourceForm;
  readonly faults: FaultLog;
  readonly progress: ProgressLine;
  /** The market definitions of earlier files, for a dry run in batches. */
  readonly definitions: Map<string, string>;
  readonly totals: IngestTotals;
  readonly first: FirstValue;
}

export interface IngestTotals {
  /** The number of records that were sent and processed. */
  records: number;
  /** The number of market definitions that were read. */
  definitions: number;
  accepted: number;
  /** The numbers of accepted records that define a new market, and that change the definition of one. */
  newMarkets: number;
  changedMarkets: number;
  /** The number of accepted records that correct a known observation. */
  corrected: number;
  /** The number of corrections of values that were retracted. */
  reinstated: number;
  /** The number of accepted records that retract an observation. */
  retractions: number;
  unchanged: number;
  /** The number of unchanged records with a value that was retracted, and stays so. */
  retracted: number;
  /** The number of records that the service refused, and of rows that gave no record. */
  refused: number;
  /** The number of refused rows that gave no record, and so were not sent. */
  withoutRecord: number;
  /** The number of values that the mapping rounded. */
  rounded: number;
  /** The first corrections that a dry run would make. */
  readonly corrections: ShownCorrection[];
  /** The number of accepted records beside a value of the same source with another URL. */
  besides: number;
  /** The first of them. Null: none. */
  firstBeside: ShownBeside | null;
  /** The number of accepted records whose price rounds to zero, and so is unknown. */
  withheld: number;
  /** The first of them. Null: none. */
  firstWithheld: ShownWithheld | null;
  /** The ids of the batches or of the upload, for `tidemark undo`. Empty in a dry run. */
  readonly sentAs: string[];
  /** The generation that shows the stored records. Null: not published yet, or nothing was stored. */
  generation: number | null;
  /** The first line of the part that was refused as a whole; nothing from there on was ingested. Null: none. */
  stoppedAtLine: number | null;
}

export function newTotals(): IngestTotals {
  const counts = {
    records: 0,
    definitions: 0,
    accepted: 0,
    newMarkets: 0,
    changedMarkets: 0,
    corrected: 0,
    reinstated: 0,
    retractions: 0,
    unchanged: 0,
    retracted: 0,
    besides: 0,
    withheld: 0,
    refused: 0,
    withoutRecord: 0,
    rounded: 0,
  };
  const none = { firstBeside: null, firstWithheld: null, generation: null, stoppedAtLine: null };
  return { ...counts, ...none, corrections: [], sentAs: [] };
}

/** Notes a batch or an upload that the service has received. A dry run leaves nothing to undo or to resume. */
export function addReceived({ dryRun, totals, onReceived }: IngestRun, id: string): void {
  if (dryRun) return;
  totals.sentAs.push(id);
  onReceived?.();
}

/** Adds the counts that only some reports have. */
export function addCorrections(
  { totals }: IngestRun,
  { counts, corrections = [], firstBeside, firstWithheld }: BatchReport | Upload,
): void {
  for (const part of ROW_COUNT_PARTS) totals[part] += counts[part] ?? 0;
  totals.firstBeside ??= firstBeside ?? null;
  totals.firstWithheld ??= firstWithheld ?? null;
  totals.corrections.push(...corrections.slice(0, CORRECTIONS_MAX - totals.corrections.length));
}

/**
 * A warning about prices that the quantity of their market is too small for.
 *
 * @param name the file or the source
 */
export function withheldNote(name: string, count: number, first: ShownWithheld): string {
  const { market, metric, observedAt, sourceValue } = first;
  const prices = count === 1 ? '1 price rounds to zero, and is' : `${count} prices round to zero, and are`;
  const example = `${market} ${metric} ${observedAt}, ${sourceValue}`;
  return (
    `${name}: ${prices} unknown (withheld), because the market's quantity is too small. To keep such prices, use a market ` +
    `with a larger quantity. The first: ${example}.`
  );
}

/** The number of accepted records that give a value for a new observation. */
export function newValuesOf({ accepted, newMarkets, changedMarkets, corrected, retractions }: IngestTotals): number {
  return accepted - newMarkets - changedMarkets - corrected - retractions;
}

/** Counts each row once, however many faults it has. */
export function addRowFaults({ faults, totals, first }: IngestRun, rows: readonly FileFault[]): void {
  for (const fault of rows) {
    faults.add(fault, null);
    first.refuse(fault.line);
  }
  const count = new Set(rows.map(({ line, row = 0 }) => `${line} ${row}`)).size;
  totals.refused += count;
  totals.withoutRecord += count;
}

/** The share of the file that has been read. Null: its length is unknown. */
export function shareOf({ sizeBytes, position }: Input): number | null {
  return sizeBytes === null || sizeBytes === 0 ? null : Math.min(1, position() / sizeBytes);
}

/**
 * Adds the faults of a report.
 *
 * @param lineOf the line of the person's file for a line of the report; null: a repeated definition
 * @returns the number of refused records that are repeated definitions, which were counted in their original part
 */
export function addReportFaults(
  { faults, source, first }: IngestRun,
  { id, errors }: BatchReport,
  lineOf: (line: number) => number | null,
): number {
  const repeated = new Set<number>();
  for (const { line, index, pointer, code, ...error } of errors) {
    const place = lineOf(line ?? index + 1);
    const detail = source.form === 'csv' ? inWordsOfMapping(code, error.detail) : error.detail;
    if (place === null) repeated.add(index);
    else {
      faults.add({ line: place, column: columnAt(pointer, source), code, detail, pointer }, id);
      first.refuse(place);
    }
  }
  return repeated.size;
}

/** The column of a CSV file, or the field of a record. Null: the fault is about the whole row, or about several columns. */
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
    currency: columnsOf(observation.currency ?? ''),
    sourceUrl: columnsOf(observation.sourceUrl),
    sourceLabel: columnsOf(observation.sourceLabel),
    ...{ market: slug, slug, name: columnsOf(market.name), kind: columnsOf(market.kind) },
    nativeCurrency: columnsOf(market.nativeCurrency),
  };
}
