import { mapCsv } from '../declared/map-csv.ts';
import type { MappedRecord, MappedRefusal } from '../declared/mapped-rows.ts';
import type { RunColumns } from '../values/template.ts';
import type { Recipe } from './recipe.ts';
import { UnpackError, unpacked } from './unpack.ts';

/** The facts about a run on which its records may depend, besides the recipe and the bytes. */
export interface RunContext {
  /** The day of the run in UTC, `YYYY-MM-DD`: the `{date}` of the recipe's URL, and `{runDate}` in its mapping. */
  readonly date: string;
  /** The moment of the fetch, RFC 3339 in UTC. Default: the beginning of that day. */
  readonly fetchedAt?: string;
  /** The `Last-Modified` of the answer, as an HTTP date (RFC 9110, section 5.6.7). */
  readonly lastModified?: string | null;
  /** The permanent address of these bytes, which becomes the `sourceUrl` of each record. Left out: the address in the mapping. */
  readonly url?: string;
  /** For a past version: the answer may lack columns that its source has added later. */
  readonly isPast?: true;
}

/**
 * The records of an answer, in the form of `mapCsv`, with the recipe's texts about sources. The same recipe, bytes and context
 * give the same records on any machine at any time. Replaying a run from the archive depends on this. An answer that cannot be
 * unpacked is a refusal of its first line.
 */
export async function* deriveRecords(
  recipe: Recipe,
  bytes: AsyncIterable<Uint8Array>,
  context: RunContext,
): AsyncGenerator<MappedRecord | MappedRefusal> {
  try {
    const { url, isPast } = context;
    const mayLack = isPast ? 'optional' : 'facts';
    const results = mapCsv(withSourceTexts(recipe), unpacked(recipe, bytes), runColumnsOf(context), mayLack);
    for await (const result of results) {
      yield url === undefined ? result : resultAt(result, url);
    }
  } catch (error) {
    if (!(error instanceof UnpackError)) throw error;
    yield { kind: 'refusal', line: 1, column: null, pointer: '', code: 'record.invalid', detail: error.message };
  }
}

function resultAt(result: MappedRecord | MappedRefusal, url: string): MappedRecord | MappedRefusal {
  if (result.kind === 'record') return { ...result, record: atUrl(result.record, url) };
  // The URL is the last part of an identity.
  const { contradicts } = result;
  return contradicts === undefined ? result : { ...result, contradicts: contradicts.replace(/[^ ]*$/, () => url) };
}

function atUrl(record: MappedRecord['record'], sourceUrl: string): MappedRecord['record'] {
  if (record.type === 'observation') return { ...record, sourceUrl };
  if (record.type !== 'market' || record.attributes === undefined) return record;
  const facts = Object.entries(record.attributes).map(([name, fact]) => [name, { ...fact, sourceUrl }]);
  return { ...record, attributes: Object.fromEntries(facts) };
}

/** The columns that describe the run that fetched the answer. */
export function runColumnsOf({ date, fetchedAt = fetchedOn(date), lastModified }: RunContext): RunColumns {
  const modifiedMs = Date.parse(lastModified ?? '');
  // If the server's clock is ahead, the moment would be in the future, so it is not used.
  const isKnown = modifiedMs <= Date.parse(fetchedAt);
  return { runDate: date, fetchedAt, lastModified: isKnown ? new Date(modifiedMs).toISOString() : fetchedAt };
}

export function fetchedOn(date: string): string {
  return `${date}T00:00:00.000Z`;
}

/** The recipe's mapping, in which each source without its own texts and cadence has those of the recipe. */
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
