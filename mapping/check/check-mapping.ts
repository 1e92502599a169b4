/** Tells the result that a mapping would have for a file, without sending anything. */
import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import type { CsvMapping, MappingFault } from '../declared/csv-mapping.ts';
import { mapCsvRows } from '../declared/map-csv.ts';
import type { MappedRefusal } from '../declared/mapped-rows.ts';
import { looseUrlColumns, requiredColumns } from '../declared/mapping-references.ts';
import { hasDigest } from '../declared/slug-digest.ts';
import type { CsvInput } from '../input/csv-input.ts';
import { unpivotedColumns } from '../input/wide-rows.ts';
import { runColumnsOf } from '../recipe/derive-records.ts';
import { parseMappingIn } from '../recipe/mapping-in.ts';
import type { RunColumns } from '../values/template.ts';
import { ObservationCount, type ObservationSummary } from './count-observations.ts';
import { type FaultGroup, FaultGroups } from './fault-groups.ts';

export type MappingCheck =
  | { readonly faults: readonly [MappingFault, ...MappingFault[]]; readonly file: null }
  | { readonly faults: readonly []; readonly file: FileCheck };

export interface FileCheck {
  /** Rows with as many fields as the header. */
  readonly rows: number;
  /** Values of the rows: several in a row of a wide table. */
  readonly values: number;
  /** Values that the mapping leaves out: blank ones, and rows that a table does not list. */
  readonly leftOut: number;
  readonly markets: { readonly count: number; readonly first: readonly MarketRecord[] };
  /** Slugs that got a digest, because they do not spell their name exactly. Slugs never change later. */
  readonly slugsWithDigest: { readonly count: number; readonly first: readonly string[] };
  readonly observations: ObservationSummary;
  readonly refused: {
    /** Values that gave no observation, and rows that are not readable. */
    readonly count: number;
    /** The most frequent ones first. Each value column of a wide table has its own. */
    readonly groups: readonly FaultGroup<MappedRefusal>[];
  };
  /** Named columns of the file that the mapping does not use. */
  readonly unusedColumns: readonly string[];
  /** Columns of `sourceUrl` that neither tell markets apart nor give the date. */
  readonly looseUrlColumns: readonly string[];
}

const FIRST_MARKETS = 5;
const PROGRESS_ROWS = 1000;

/**
 * Reads the whole file if the mapping has no fault. Takes the memory of one entry for each market and 43 bytes for each
 * observation. The rules that need a clock or the ledger are not checked: `ingest --dry-run` checks those too.
 *
 * @param mappingText JSON with comments; or a recipe, whose mapping it is
 * @param progress receives the number of rows now and then
 * @param fetchedAt the moment of the fetch, for a recipe whose mapping reads it
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
  const firstDigests: string[] = [];
  let [rows, values, leftOut, markets, unreadable, digests] = [0, 0, 0, 0, 0, 0];
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
      if (result.kind === 'refusal') {
        refusals.add(result);
      } else if (result.record.type === 'market') {
        markets += 1;
        if (firstMarkets.length < FIRST_MARKETS) firstMarkets.push(result.record as MarketRecord);
        const { slug } = result.record;
        if (mapping.market.slugDigest === 'unless-exact' && hasDigest(slug)) {
          digests += 1;
          if (firstDigests.length < FIRST_MARKETS) firstDigests.push(slug);
        }
      } else {
        observations.add(result);
      }
    }
    if (rows % PROGRESS_ROWS === 0) progress(rows);
  }
  progress(rows);
  // A column that unpivot excepts is not used by that alone.
  const used = requiredColumns({ ...mapping, unpivot: undefined });
  const summary = observations.summary();
  const groups = refusals.groups().sort((one, other) => other.count - one.count);
  return {
    rows,
    values,
    leftOut,
    markets: { count: markets, first: firstMarkets },
    slugsWithDigest: { count: digests, first: firstDigests },
    observations: summary,
    refused: { count: values - leftOut - summary.count + unreadable, groups },
    unusedColumns: header.filter((name) => name !== '' && !used.has(name) && !unpivoted.includes(name)),
    looseUrlColumns: looseUrlColumns(mapping),
  };
}
