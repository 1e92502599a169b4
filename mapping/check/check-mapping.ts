/** Shows the result of a mapping for a file, without sending anything. */
import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { millisecondInstant } from '../../contract/values/instants.ts';
import type { CsvMapping, MappingFault } from '../declared/csv-mapping.ts';
import { mapCsvRows } from '../declared/map-csv.ts';
import type { MappedRecord, MappedRefusal } from '../declared/mapped-rows.ts';
import { looseUrlColumns, requiredColumns } from '../declared/mapping-references.ts';
import { ENDS_LIKE_DIGEST } from '../declared/slug-digest.ts';
import type { CsvInput } from '../input/csv-input.ts';
import { unpivotedColumns } from '../input/wide-rows.ts';
import { runColumnsOf } from '../recipe/derive-records.ts';
import { parseMappingIn } from '../recipe/mapping-in.ts';
import type { RunColumns } from '../values/template.ts';
import { type FaultGroup, FaultGroups } from './fault-groups.ts';
import { FirstValue } from './first-value.ts';

export type MappingCheck =
  | { readonly faults: readonly [MappingFault, ...MappingFault[]]; readonly file: null }
  | { readonly faults: readonly []; readonly file: FileCheck };

export interface FileCheck {
  /** The number of rows with as many fields as the header. */
  readonly rows: number;
  /** The number of values in the rows. A row of a wide table has several. */
  readonly values: number;
  /** The number of values that the mapping leaves out: blank ones, and those of rows that a table does not list. */
  readonly leftOut: number;
  readonly markets: { readonly count: number; readonly first: readonly MarketRecord[] };
  /** Whether a slug has a digest, because its name is not a slug. Slugs never change later. */
  readonly hasDigests: boolean;
  readonly observations: ObservationSummary;
  /** The record as it would be sent. Null: no row gives one. */
  readonly firstObservation: MappedRecord['record'] | null;
  /** The first known value in words: `model-1 0.10 USD per token, 1 Oct 2026`. */
  readonly first: string | null;
  readonly refused: {
    /** The number of values without an observation, and of unreadable rows. */
    readonly count: number;
    /** The most frequent first. Each value column of a wide table has its own groups. */
    readonly groups: readonly FaultGroup<MappedRefusal>[];
  };
  /** Named columns of the file that the mapping does not use. */
  readonly unusedColumns: readonly string[];
  /** Columns of `sourceUrl` that neither distinguish markets nor give the date. */
  readonly looseUrlColumns: readonly string[];
}

export interface ObservationSummary {
  readonly count: number;
  /** The numbers of observations without a value, by reason. */
  readonly unknown: Readonly<Record<string, number>>;
  readonly rounded: number;
  /** The earliest and the latest moment; null without observations. */
  readonly observedAt: { readonly first: string; readonly last: string } | null;
}

const FIRST_MARKETS = 5;
const PROGRESS_ROWS = 1000;

/**
 * Reads the whole file if the mapping has no fault. The memory grows by one entry for each market and 43 bytes for each
 * observation. Rules that need a clock or the ledger are not checked: `ingest --dry-run` checks them, too.
 *
 * @param mappingText JSON with comments; or a recipe, whose mapping is checked
 * @param progress receives the number of rows at intervals
 * @param fetchedAt the moment of the fetch, for a recipe whose mapping uses it
 */
export async function checkMapping(
  mappingText: string,
  csv: CsvInput,
  progress: (rows: number) => void = () => {},
  fetchedAt: string | null = null,
): Promise<MappingCheck> {
  const result = parseMappingIn(mappingText);
  if ('faults' in result) return { faults: result.faults, file: null };
  const isFetched = result.isOfRecipe && fetchedAt !== null;
  const run = isFetched ? runColumnsOf({ date: fetchedAt.slice(0, 10), fetchedAt }) : null;
  return { faults: [], file: await checkFile(result.mapping, csv, run, progress) };
}

async function checkFile(
  mapping: CsvMapping,
  csv: CsvInput,
  run: RunColumns | null,
  progress: (rows: number) => void,
): Promise<FileCheck> {
  const observations = new ObservationCount();
  const refusals = new FaultGroups<MappedRefusal>();
  const firstMarkets: MarketRecord[] = [];
  let [rows, values, leftOut, markets, unreadable] = [0, 0, 0, 0, 0];
  let hasDigests = false;
  let firstObservation: FileCheck['firstObservation'] = null;
  const first = new FirstValue();
  let header: readonly string[] = [];
  let unpivoted: readonly string[] = [];
  for await (const row of mapCsvRows(mapping, csv, run)) {
    if (row.kind === 'header') {
      header = row.columns;
      unpivoted = mapping.unpivot === undefined ? [] : unpivotedColumns(mapping.unpivot, header);
      continue;
    }
    if (row.values === 0) unreadable += 1;
    else rows += 1;
    values += row.values;
    leftOut += row.leftOut;
    for (const result of row.results) {
      if (result.kind === 'record') first.add(result.record, rows);
      if (result.kind === 'refusal') {
        refusals.add(result);
      } else if (result.record.type === 'market') {
        markets += 1;
        hasDigests ||= mapping.market.slugDigest === 'unless-exact' && ENDS_LIKE_DIGEST.test(result.record.slug);
        if (firstMarkets.length < FIRST_MARKETS) firstMarkets.push(result.record as MarketRecord);
      } else {
        firstObservation ??= result.record;
        observations.add(result.record);
      }
    }
    if (rows % PROGRESS_ROWS === 0) progress(rows);
  }
  progress(rows);
  // Only naming a column in the exceptions of `unpivot` is not a use.
  const used = requiredColumns({ ...mapping, unpivot: undefined });
  const summary = observations.summary();
  const groups = refusals.groups().sort((one, other) => other.count - one.count);
  return {
    rows,
    values,
    leftOut,
    markets: { count: markets, first: firstMarkets },
    hasDigests,
    observations: summary,
    firstObservation,
    first: first.text,
    refused: { count: values - leftOut - summary.count + unreadable, groups },
    unusedColumns: header.filter((name) => name !== '' && !used.has(name) && !unpivoted.includes(name)),
    looseUrlColumns: looseUrlColumns(mapping),
  };
}

class ObservationCount {
  readonly #unknown = new Map<string, number>();
  #count = 0;
  #rounded = 0;
  #first = '';
  #last = '';

  add(record: MappedRecord['record']): void {
    if (record.type !== 'observation') return;
    const { observedAt, unknownReason } = record;
    const instant = millisecondInstant(observedAt);
    if (this.#count === 0 || instant < this.#first) this.#first = instant;
    if (instant > this.#last) this.#last = instant;
    this.#count += 1;
    if (unknownReason != null) this.#unknown.set(unknownReason, (this.#unknown.get(unknownReason) ?? 0) + 1);
    if ('rounded' in record && record.rounded) this.#rounded += 1;
  }

  summary(): ObservationSummary {
    const [first, last] = [this.#first, this.#last].map((instant) => instant.replace('.000Z', 'Z')) as [string, string];
    return {
      count: this.#count,
      unknown: Object.fromEntries(this.#unknown),
      rounded: this.#rounded,
      observedAt: this.#count === 0 ? null : { first, last },
    };
  }
}
