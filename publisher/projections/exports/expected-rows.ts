/** The rows of observations that an export must have, by the log. Pure. docs/exports.md has the rules of its tables. */
import { createHash, type Hash } from 'node:crypto';
import { OBSERVATIONS_TABLE } from '../../../contract/bodies/export-tables.ts';
import type { ObservationEntry } from '../../../contract/log/entries.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { LogFold } from '../../core/log/fold.ts';
import {
  inExportOrder,
  type ObservationFacts,
  type ObservationRow,
  observationRow,
  type SupersededAt,
} from './observation-rows.ts';
import { csvTexts, ndjsonLine } from './write-texts.ts';

/**
 * Columns that cannot be proven for a removed market with a takedown: they depend on its definition or on a superseding
 * observation, and those entries may have been taken down.
 */
const DERIVED = { decimalPerUnit: null, approximateValue: null, supersededAt: null, supersededBy: null };
const CSV = csvTexts(OBSERVATIONS_TABLE);

/** The rows of a market in the table of observations, by a log of this size; those of one part are in its order. */
function expectedObservations(fold: LogFold, slug: string, size: number): readonly ObservationRow[] {
  const stated = new Map<string, { readonly index: number; readonly entry: ObservationEntry }>();
  const superseded = new Map<string, Pick<SupersededAt, 'by' | 'at'>>();
  let quantity: number | null = null;
  for (const { index, entry } of fold.entriesOf(slug, size)) {
    if (entry.type === 'market') quantity = entry.unit.quantity;
    if (entry.type !== 'observation' || entry.announced) continue;
    if (!stated.has(entry.id)) stated.set(entry.id, { index, entry });
    if (entry.supersedes !== null) superseded.set(entry.supersedes, { by: entry.id, at: entry.recordedAt });
  }
  return [...stated.values()]
    .map((each) => ({ ...each.entry, ...each, observedAt: millisecondInstant(each.entry.observedAt) }))
    .sort(inExportOrder)
    .map(({ index, entry }) =>
      observationRow(index, entry as unknown as ObservationFacts, quantity, superseded.get(entry.id) ?? null),
    );
}

/** The provable part of a row whose market has a takedown. */
export function provenText(row: ObservationRow): string {
  return ndjsonLine({ ...row, ...DERIVED });
}

/** The rows of one part. */
export class ExpectedPart {
  readonly ndjson: Hash = createHash('sha256');
  readonly csv: Hash = createHash('sha256').update(CSV.header);
  /** Rows of markets with a takedown, as far as they can be proven. The part may have more rows of these markets. */
  readonly loose = new Set<string>();

  add(row: ObservationRow, isLoose: boolean): void {
    if (isLoose) this.loose.add(provenText(row));
    else {
      this.ndjson.update(ndjsonLine(row));
      this.csv.update(CSV.line(row));
    }
  }
}

/** By the number of the part. Parts without rows are left out. */
export function expectedParts(
  fold: LogFold,
  size: number,
  partEntries: number,
  isLoose: (slug: string) => boolean,
): Map<number, ExpectedPart> {
  const parts = new Map<number, ExpectedPart>();
  for (const slug of fold.pastSlugs()) {
    for (const row of expectedObservations(fold, slug, size)) {
      const number = Math.floor(row.logIndex / partEntries);
      const part = parts.get(number) ?? new ExpectedPart();
      parts.set(number, part);
      part.add(row, isLoose(slug));
    }
  }
  return parts;
}
