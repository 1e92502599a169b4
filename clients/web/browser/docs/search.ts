/** The search of the documentation, over an index that was made with the pages. Pure. */

export interface SearchEntry {
  /** E.g. `Guide`, `GET /api/v1/markets`. */
  readonly kind: string;
  readonly title: string;
  /** The file of the page, below the base URL. */
  readonly href: string;
  /** Further words, which are not shown. */
  readonly more: string;
  /** Its sentences; each line is a paragraph, an item or a cell. */
  readonly text: string;
}

export interface SearchResult {
  readonly entry: SearchEntry;
  /** The sentence that has most of the words; if none has any, the first one. */
  readonly sentence: string;
}

const RESULTS_MAX = 12;
/** Of letters that are shown of a sentence. */
const SENTENCE_MAX = 200;
/** Words that nearly every sentence has: they count only if there are no others. */
const SMALL_WORDS = new Set(
  'a an and are be by can do does for from how i if in is it my of on or the to what when where with'.split(' '),
);

/** The score of a match: of a whole word, of its beginning, of a part. */
const TITLE = [12, 8, 4] as const;
const NAME = [6, 4, 2] as const;
const TEXT = [3, 2, 0] as const;
/** For the words beside each other, as they were typed. */
const PHRASE = 6;
/** Schemas have the names of what operations and guides explain. */
const SCHEMA_SHARE = 0.5;

interface PreparedEntry {
  readonly entry: SearchEntry;
  readonly title: readonly string[];
  readonly names: readonly string[];
  readonly text: readonly string[];
  /** In small letters. */
  readonly all: string;
}

export class DocsSearch {
  readonly #entries: readonly PreparedEntry[];

  constructor(entries: readonly SearchEntry[]) {
    this.#entries = entries.map((entry) => ({
      entry,
      title: wordsOf(entry.title),
      names: wordsOf(`${entry.kind} ${entry.more}`),
      text: [...new Set(wordsOf(entry.text))],
      all: `${entry.title}\n${entry.more}\n${entry.text}`.toLowerCase(),
    }));
  }

  /**
   * Finds the entries that have every word. If there are none, it finds those that have the most words. The best is first: a rare
   * word counts more than a common one.
   */
  find(query: string): readonly SearchResult[] {
    const wanted = wantedWords(query);
    if (wanted.length === 0) return [];
    const phrase = query.trim().toLowerCase().replaceAll(/\s+/g, ' ');
    const isPhrase = wordsOf(phrase).length > 1;
    const scores = wanted.map((word) => this.#entries.map((prepared) => scoreOf(prepared, word)));
    const weights = scores.map((each) => Math.log(1 + each.length / each.filter((score) => score > 0).length));
    const scored = this.#entries.map((prepared, at) => {
      const own = scores.map((each, word) => (each[at] === 0 ? 0 : (each[at] as number) * (weights[word] as number)));
      const sum = own.reduce((sum, score) => sum + score, isPhrase && prepared.all.includes(phrase) ? PHRASE : 0);
      const { kind, title, more } = prepared.entry;
      const isSchema = kind === 'Schemas';
      const isNamed = !isSchema && [title, more].some((name) => name.toLowerCase() === phrase);
      const share = isSchema ? SCHEMA_SHARE : 1;
      const has = isNamed ? Infinity : own.filter((score) => score > 0).length;
      return { prepared, at, has, score: isNamed ? Infinity : share * sum + 1 / (1 + prepared.title.length) };
    });
    const most = Math.max(...scored.map(({ has }) => (has === Infinity ? 0 : has)));
    return scored
      .filter(({ has }) => has > 0 && has >= most)
      .sort((one, other) => (one.score === other.score ? one.at - other.at : other.score - one.score))
      .slice(0, RESULTS_MAX)
      .map(({ prepared: { entry } }) => ({ entry, sentence: sentenceOf(entry, wanted) }));
  }
}

/** The parts of a text, in order: those that match a word of the query are marked. */
export function markedParts(
  text: string,
  query: string,
): readonly { readonly text: string; readonly isMatch: boolean }[] {
  const wanted = wantedWords(query);
  if (wanted.length === 0) return [{ text, isMatch: false }];
  // The words beside each other are marked as one, small ones included.
  const phrase = wordsOf(query).join('[^\\p{L}\\p{N}]+');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${phrase}|${wanted.join('|')})`, 'giu');
  return text
    .split(pattern)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

function scoreOf({ title, names, text }: PreparedEntry, word: string): number {
  const inText = matchOf(text, word, TEXT);
  return Math.max(matchOf(title, word, TITLE), matchOf(names, word, NAME)) + inText;
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
  // A colon ends no sentence: what follows is said of what is before it.
  const sentences = [...text.split(/\n|(?<=[.!?])\s+/), ...(more.includes(' ') ? [more] : [])];
  const isLong = (sentence: string): boolean => /\S \S+ \S+ \S/.test(sentence);
  let best = { sentence: sentences.find(isLong) ?? '', score: 0 };
  for (const sentence of sentences) {
    const words = wordsOf(sentence);
    const matches = wanted.reduce((sum, word) => sum + matchOf(words, word, TEXT), 0);
    // The name of a member alone says less than a sentence about it.
    const score = matches > 0 && isLong(sentence) ? matches + 1 : matches;
    if (score > best.score) best = { sentence, score };
  }
  const { sentence } = best;
  if (sentence.length <= SENTENCE_MAX) return sentence;
  const first = Math.min(...wanted.map((word) => sentence.toLowerCase().indexOf(word)).filter((at) => at >= 0));
  const from = Math.max(0, Math.min(first - SENTENCE_MAX / 4, sentence.length - SENTENCE_MAX));
  const begin = from === 0 ? 0 : sentence.indexOf(' ', from) + 1;
  const end =
    begin + SENTENCE_MAX >= sentence.length ? sentence.length : sentence.lastIndexOf(' ', begin + SENTENCE_MAX);
  return `${begin > 0 ? '… ' : ''}${sentence.slice(begin, end)}${end < sentence.length ? ' …' : ''}`;
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
