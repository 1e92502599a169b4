/** Finds the markets that match a name, a ticker, a pair, a unit or a kind. Pure. */
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';

/** Codes of metals (ISO 4217) and usual tickers, by the name that a market may have instead. */
const CODES: Readonly<Record<string, string>> = {
  ...{ gold: 'xau', silver: 'xag', platinum: 'xpt', palladium: 'xpd' },
  ...{ bitcoin: 'btc', ethereum: 'eth', ether: 'eth', litecoin: 'ltc', solana: 'sol', dogecoin: 'doge' },
};

export type Searched = Pick<LatestEntry, 'name' | 'slug' | 'kind' | 'unit' | 'currency'>;

const PREPARED_AT_ONCE = 500;

/** Cached texts: the same entry object has the same text. */
const texts = new WeakMap<Searched, string>();

/** Prepares the texts of many markets before a search, some at a time. */
export function prepareSearch(entries: readonly Searched[], then: () => void, from = 0): void {
  setTimeout(() => {
    const end = from + PREPARED_AT_ONCE;
    for (const entry of entries.slice(from, end)) searchTextOf(entry);
    if (end < entries.length) prepareSearch(entries, then, end);
    else then();
  });
}

/** Many markets as one text: one search in it is several times faster than 20,000 separate ones. */
export class SearchIndex<Entry extends Searched> {
  readonly #entries: readonly Entry[];
  readonly #text: string;
  /** The position at which the text of each market ends. */
  readonly #ends: Uint32Array;
  /** Markets by each name that {@link exact} accepts. */
  readonly #named = new Map<string, Entry[]>();

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    const own = entries.map(searchTextOf);
    // No word has a line break.
    this.#text = own.join('\n');
    this.#ends = new Uint32Array(own.length);
    for (let [at, end] = [0, -1]; at < own.length; at++) {
      end += (own[at] as string).length + 1;
      this.#ends[at] = end;
    }
    for (const entry of entries) {
      for (const name of namesOf(entry)) {
        const named = this.#named.get(name);
        if (named === undefined) this.#named.set(name, [entry]);
        else named.push(entry);
      }
    }
  }

  /** The markets whose name, or slug with or without the currency, equals the text: `bitcoin eur`, but not Bitcoin Cash. */
  exact(text: string): readonly Entry[] {
    const [name, slug] = [plain(text).trim(), wordsOf(text).join('-')];
    const byName = this.#named.get(name) ?? [];
    return name === slug ? byName : [...new Set([...byName, ...(this.#named.get(slug) ?? [])])];
  }

  /**
   * The markets that {@link marketMatcher} accepts, in their order.
   *
   * @param max stops after this many. @param isWanted a further condition for a market that matches
   */
  find(text: string, max = Infinity, isWanted: (entry: Entry) => boolean = () => true): readonly Entry[] {
    const [first, ...others] = wordsOf(text);
    if (first === undefined) return this.#entries.filter(isWanted).slice(0, max);
    const found: Entry[] = [];
    let at = 0;
    for (let place = this.#text.indexOf(first); place !== -1 && found.length < max; ) {
      while ((this.#ends[at] as number) <= place) at++;
      const entry = this.#entries[at] as Entry;
      if (hasAll(entry, others) && isWanted(entry)) found.push(entry);
      place = this.#text.indexOf(first, this.#ends[at]);
    }
    return found;
  }
}

/** Whether a market has every word of a text. True for an empty text. */
export function marketMatcher(text: string): (entry: Searched) => boolean {
  const words = wordsOf(text);
  return (entry) => hasAll(entry, words);
}

function namesOf({ name, slug, currency }: Searched): ReadonlySet<string> {
  const end = `-${plain(currency)}`;
  return new Set([plain(name), slug, ...(slug.endsWith(end) ? [slug.slice(0, -end.length)] : [])]);
}

const wordsOf = (text: string): readonly string[] => plain(text).split(/\s+/).filter(Boolean);

function hasAll(entry: Searched, words: readonly string[]): boolean {
  return words.length === 0 || words.every((word) => searchTextOf(entry).includes(word));
}

function searchTextOf(entry: Searched): string {
  const known = texts.get(entry);
  if (known !== undefined) return known;
  const { name, slug, kind, unit, currency } = entry;
  const own = plain([name, slug, kind, unit, currency].join(' '));
  // If the unit is a ticker, it names the priced thing: Bitcoin Cash is not bitcoin.
  const codes = /^[A-Z0-9]{2,6}$/.test(unit) ? [plain(unit)] : codesIn(own);
  const names = Object.keys(CODES).filter((name) => codes.includes(CODES[name] as string));
  const quote = plain(currency);
  const pairs = codes.flatMap((code) => [`${code}/${quote}`, `${code}${quote}`, `${code}-${quote}`]);
  const made = [own, ...codes, ...names, ...pairs].join(' ');
  texts.set(entry, made);
  return made;
}

function codesIn(text: string): readonly string[] {
  const words = text.split(/[^\p{L}\p{N}]+/u);
  return words.flatMap((word) => (Object.hasOwn(CODES, word) ? (CODES[word] as string) : []));
}

/** Without accents and capitals: `São Tomé` is found by `sao tome`. */
function plain(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}
