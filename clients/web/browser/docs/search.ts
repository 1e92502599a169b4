/** The search of the documentation, over an index that was made with the pages. Pure. */

export interface SearchEntry {
  /** E.g. `Guide`, `GET /api/v1/markets`. */
  readonly kind: string;
  readonly title: string;
  /** The file of the page, below the base URL. */
  readonly href: string;
  /** Further words, which are not shown. */
  readonly more: string;
}

const RESULTS_MAX = 12;

/**
 * The entries that have every word of the query, best first: a whole word before a beginning, a title before the rest, and a
 * name before all.
 */
export function searched(entries: readonly SearchEntry[], query: string): readonly SearchEntry[] {
  const wanted = wordsOf(query);
  if (wanted.length === 0) return [];
  return entries
    .map((entry, at) => ({ entry, at, score: isNamed(entry, query.trim()) ? Infinity : scoreOf(entry, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => (one.score === other.score ? one.at - other.at : other.score - one.score))
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
}

function isNamed({ title, more }: SearchEntry, query: string): boolean {
  return [title, more].some((name) => name.toLowerCase() === query.toLowerCase());
}

/** 0: a word is missing. */
function scoreOf({ title, kind, more }: SearchEntry, wanted: readonly string[]): number {
  const titleWords = wordsOf(title);
  const otherWords = wordsOf(`${kind} ${more}`);
  const scores = wanted.map((word) => Math.max(2 * matchOf(titleWords, word), matchOf(otherWords, word)));
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) + 1 / (1 + titleWords.length);
}

function matchOf(words: readonly string[], word: string): number {
  if (words.includes(word)) return 3;
  if (words.some((each) => each.startsWith(word))) return 2;
  return words.some((each) => each.includes(word)) ? 1 : 0;
}

/** `createWatchlist` is two words, as `not-found` and `/api/v1/markets` are several. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
