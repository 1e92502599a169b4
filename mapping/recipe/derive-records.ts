/** From the bytes of an answer to ingest records. */
import { mapCsv } from '../declared/map-csv.ts';
import type { MappedRecord, MappedRefusal } from '../declared/mapped-rows.ts';
import type { Recipe } from './recipe.ts';
import { UnpackError, unpacked } from './unpack.ts';

/** Everything about a run that its records may depend on, beside the recipe and the bytes. */
export interface RunContext {
  /** The day of the run in UTC, `YYYY-MM-DD`: the `{date}` of the recipe's URL, and `{runDate}` in its mapping. */
  readonly date: string;
}

/**
 * The records of an answer, as `mapCsv` gives them, with what the recipe says about its sources. The same recipe,
 * bytes and context give the same records, on any machine and at any time: replaying a run from the archive rests on it.
 * An answer that cannot be unpacked is a refusal of its first line.
 */
export async function* deriveRecords(
  recipe: Recipe,
  bytes: AsyncIterable<Uint8Array>,
  { date }: RunContext,
): AsyncGenerator<MappedRecord | MappedRefusal> {
  try {
    yield* mapCsv(withSourceTexts(recipe), unpacked(recipe, bytes), date);
  } catch (error) {
    if (!(error instanceof UnpackError)) throw error;
    yield { kind: 'refusal', line: 1, column: null, pointer: '', code: 'record.invalid', detail: error.message };
  }
}

/** The recipe's mapping, in which each source has the recipe's own texts and cadence where it has none itself. */
export function withSourceTexts({ mapping, publisher, licence, attribution, cadence }: Recipe): Recipe['mapping'] {
  const sources = mapping.market.sources.map((source) => ({
    ...source,
    publisher: source.publisher ?? publisher,
    licence: source.licence ?? licence,
    attribution: source.attribution ?? attribution,
    cadence: source.cadence ?? cadence,
  }));
  return { ...mapping, market: { ...mapping.market, sources } };
}
