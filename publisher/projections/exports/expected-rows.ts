/** The rows that the log gives to an export. Pure. docs/exports.md has the rules of its tables. */
import { createHash, type Hash } from 'node:crypto';
import { type ExportRow, OBSERVATIONS_TABLE } from '../../../contract/bodies/export-tables.ts';
import type { ObservationEntry } from '../../../contract/log/entries.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import { marketBody } from '../../core/bodies/render.ts';
import type { LogFold } from '../../core/log/fold.ts';
import { foldObservations } from '../../core/log/fold-observations.ts';
import { addFact, noFacts, recordOf } from '../../core/log/folded-market.ts';
import { marketRows } from './market-rows.ts';
import {
  inExportOrder,
  type ObservationFacts,
  type ObservationRow,
  observationRow,
  type SupersededAt,
} from './observation-rows.ts';
import { csvTexts, ndjsonLine } from './write-texts.ts';

/** The rows of a market in the table of observations, by a log of this size; those of one part are in its order. */
export function expectedObservations(fold: LogFold, slug: string, size: number): readonly ObservationRow[] {
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
    .map(({ index, entry }) => ({ index, entry, ...placeOf(entry) }))
    .sort(inExportOrder)
    .map(({ index, entry }) =>
      observationRow(index, entry as unknown as ObservationFacts, quantity, superseded.get(entry.id) ?? null),
    );
}

function placeOf({ market, metric, observedAt }: ObservationEntry) {
  return { market, metric, observedAt: millisecondInstant(observedAt) };
}

/**
 * The rows of a market in the table of markets, by a log of this size; none if it is not shown.
 *
 * @param revision leaves later entries out: the table may be older than the log
 * @throws LogFaultError if its entries contradict each other
 */
export function expectedMarketRows(
  fold: LogFold,
  slug: string,
  size: number,
  revision = Number.POSITIVE_INFINITY,
): readonly ExportRow[] {
  const entries = fold.entriesOf(slug, size).filter(({ entry }) => entry.revision <= revision);
  if (entries.length === 0) return [];
  const facts = noFacts();
  for (const { entry } of entries) addFact(facts, entry);
  if (facts.removal !== null) return [];
  const observations = entries.flatMap(({ entry }) => (entry.type === 'observation' ? [entry] : []));
  const folded = recordOf(slug, facts, foldObservations(slug, observations));
  // The name of a representative is in no row.
  return marketRows(JSON.parse(marketBody(slug, folded.revision, folded.record(null))) as Market);
}

/** The digests of the texts of one part of the observations, and the number of its rows. */
export class ExpectedPart {
  rows = 0;
  readonly #ndjson = createHash('sha256');
  readonly #csv: Hash;

  constructor() {
    this.#csv = createHash('sha256').update(CSV.header);
  }

  add(row: ObservationRow): void {
    this.rows++;
    this.#ndjson.update(ndjsonLine(row));
    this.#csv.update(CSV.line(row));
  }

  /** SHA-256 in hex. */
  digests(): { readonly ndjson: string; readonly csv: string } {
    return { ndjson: this.#ndjson.copy().digest('hex'), csv: this.#csv.copy().digest('hex') };
  }
}

const CSV = csvTexts(OBSERVATIONS_TABLE);

/** By the number of the part. A part without rows is not in it. */
export function expectedParts(fold: LogFold, size: number, partEntries: number): ReadonlyMap<number, ExpectedPart> {
  const parts = new Map<number, ExpectedPart>();
  for (const slug of fold.pastSlugs()) {
    for (const row of expectedObservations(fold, slug, size)) {
      const number = Math.floor(row.logIndex / partEntries);
      const part = parts.get(number) ?? new ExpectedPart();
      parts.set(number, part);
      part.add(row);
    }
  }
  return parts;
}
