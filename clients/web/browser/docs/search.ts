/** The search of the documentation, over an index that was made with the pages. Pure. */

export interface SearchEntry {
  /** E.g. `Guide`, `GET /api/v1/markets`. */
  readonly kind: string;
  readonly title: string;
  /** The file of the page, below the base URL. */
  readonly href: string;
  /** Further words to search, which are not shown. */
  readonly more: string;
  /** Its sentences; each line is a paragraph, an item or a cell. */
  readonly text: string;
}

export interface SearchResult {
  readonly entry: SearchEntry;
  /** The sentence with most of the searched words; without any, the first sentence. */
  readonly sentence: string;
}

const RESULTS_MAX = 12;
/** Words of nearly every sentence: they count only if the query has no other words. */
const SMALL_WORDS = new Set(
  'a an and are be by can do does for from how i if in is it my of on or the to what when where with'.split(' '),
);

/** The scores of a match in a title: of a whole word, of its beginning, of any part. */
const TITLE = [12, 8, 4] as const;
const NAME = [6, 4, 2] as const;
const TEXT = [3, 2, 0] as const;

/** The score if the words occur together, as in the query. */
const PHRASE = 12;

type EntryWords = Readonly<Record<'title' | 'names' | 'text', readonly string[]>>;

export class DocsSearch {
  readonly #entries: readonly (readonly [SearchEntry, EntryWords])[];

  constructor(entries: readonly SearchEntry[]) {
    this.#entries = entries.map((entry) => {
      const { kind, title, more, text } = entry;
      return [entry, { title: wordsOf(title), names: wordsOf(`${kind} ${more}`), text: wordsOf(text) }];
    });
  }

  /**
   * Finds the entries that have every word, or else those that have the most words. An entry with exactly this title comes
   * first, then the entries with the most words in title and text.
   */
  find(query: string): readonly SearchResult[] {
    const wanted = wantedWords(query);
    const phrase = query.trim().toLowerCase();
    const scored = this.#entries.map(([entry, words]) => {
      const { kind, title, more, text } = entry;
      const scores = wanted.map((word) => scoreOf(words, word));
      const isNamed = kind !== 'Schemas' && [title, more].some((name) => name.toLowerCase() === phrase);
      const isPhrase = phrase.includes(' ') && `${more}\n${text}`.toLowerCase().includes(phrase);
      const has = isNamed ? wanted.length : scores.filter((score) => score > 0).length;
      const sum = scores.reduce((one, other) => one + other, isPhrase ? PHRASE : 1 / title.length);
      // Schemas contain the names that operations and guides explain, so they count less.
      return { entry, has, score: isNamed ? Infinity : kind === 'Schemas' ? sum / 2 : sum };
    });
    const most = Math.max(1, ...scored.map(({ has }) => has));
    return scored
      .filter(({ has }) => has === most)
      .sort((one, other) => (one.score === other.score ? 0 : other.score - one.score))
      .slice(0, RESULTS_MAX)
      .map(({ entry }) => ({ entry, sentence: sentenceOf(entry, wanted) }));
  }
}

function scoreOf({ title, names, text }: EntryWords, word: string): number {
  return Math.max(matchOf(title, word, TITLE), matchOf(names, word, NAME)) + matchOf(text, word, TEXT);
}

/** The parts of a text, in order: those that match a word of the query are marked. */
export function markedParts(
  text: string,
  query: string,
): readonly { readonly text: string; readonly isMatch: boolean }[] {
  const wanted = wantedWords(query);
  if (wanted.length === 0) return [{ text, isMatch: false }];
  // Words that occur together are marked as one, including small words.
  const phrase = wordsOf(query).join('[^\\p{L}\\p{N}]+');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${phrase}|${wanted.join('|')})`, 'giu');
  return text
    .split(pattern)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

function matchOf(
  words: readonly string[],
  word: string,
  [whole, beginning, part]: readonly [number, number, number],
): number {
  if (words.includes(word)) return whole;
  if (words.some((each) => each.startsWith(word))) return beginning;
  return part > 0 && words.some((each) => each.includes(word)) ? part : 0;
}

function sentenceOf({ more, text }: SearchEntry, wanted: readonly string[]): string {
  // A colon does not end a sentence, because the text after it depends on the text before it.
  const sentences = [...text.split(/\n|(?<=[.!?])\s+/), ...(more.includes(' ') ? [more] : [])];
  const isLong = (sentence: string): boolean => /\S \S+ \S+ \S/.test(sentence);
  let best = { sentence: sentences.find(isLong) ?? '', score: 0 };
  for (const sentence of sentences) {
    const words = wordsOf(sentence);
    const matches = wanted.reduce((sum, word) => sum + matchOf(words, word, TEXT), 0);
    // A bare member name tells less than a sentence about it.
    const score = matches > 0 && isLong(sentence) ? matches + 1 : matches;
    if (score > best.score) best = { sentence, score };
  }
  return best.sentence;
}

function wantedWords(query: string): readonly string[] {
  const words = [...new Set(wordsOf(query))];
  const large = words.filter((word) => !SMALL_WORDS.has(word));
  return large.length === 0 ? words : large;
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
