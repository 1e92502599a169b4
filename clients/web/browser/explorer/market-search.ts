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
export function prepareSearch(entries: readonly Searched[], from = 0): void {
  setTimeout(() => {
    const end = from + PREPARED_AT_ONCE;
    for (const entry of entries.slice(from, end)) searchTextOf(entry);
    if (end < entries.length) prepareSearch(entries, end);
  });
}

/** Whether a market has every word of a text. True for an empty text. */
export function marketMatcher(text: string): (entry: Searched) => boolean {
  const words = wordsOf(text);
  return (entry) => hasAll(entry, words);
}

/** Whether a text is the name of a market, or its slug with or without the currency: `bitcoin eur`, but not Bitcoin Cash. */
export function nameMatcher(text: string): (entry: Searched) => boolean {
  const [asked, askedSlug] = [plain(text).trim(), wordsOf(text).join('-')];
  return ({ name, slug, currency }) =>
    plain(name) === asked || slug === askedSlug || slug === `${askedSlug}-${plain(currency)}`;
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
