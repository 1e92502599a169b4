/** From the bytes of an answer to ingest records. */
import { type MappedRecord, type MappedRefusal, mapCsv } from '../map-csv.ts';
import type { Recipe } from './recipe.ts';

/** Everything about a run that its records may depend on, beside the recipe and the bytes. */
export interface RunContext {
  /** The day of the run in UTC, `YYYY-MM-DD`: the `{date}` of the recipe's URL. */
  readonly date: string;
}

/**
 * The records of an answer, as `mapCsv` gives them, with what the recipe says about its sources. The same recipe,
 * bytes and context give the same records, on any machine and at any time: replaying a run from the archive rests on it.
 */
export async function* deriveRecords(
  recipe: Recipe,
  bytes: AsyncIterable<Uint8Array>,
  _context: RunContext,
): AsyncGenerator<MappedRecord | MappedRefusal> {
  yield* mapCsv(withSourceTexts(recipe), bytes);
}

/** The recipe's mapping, in which each source without a publisher, licence or attribution has the recipe's own. */
export function withSourceTexts({ mapping, publisher, licence, attribution }: Recipe): Recipe['mapping'] {
  const sources = mapping.market.sources.map((source) => ({
    ...source,
    publisher: source.publisher ?? publisher,
    licence: source.licence ?? licence,
    attribution: source.attribution ?? attribution,
  }));
  return { ...mapping, market: { ...mapping.market, sources } };
}
