/** Which markets a reader means by a name, a ticker, a pair, a unit or a kind. Pure. */
import type { LatestEntry } from '../../../../contract/files/latest-entries.ts';

/** Codes of metals (ISO 4217) and usual tickers, by the name that a market may have instead. */
const CODES: Readonly<Record<string, string>> = {
  ...{ gold: 'xau', silver: 'xag', platinum: 'xpt', palladium: 'xpd' },
  ...{ bitcoin: 'btc', ethereum: 'eth', ether: 'eth', litecoin: 'ltc', solana: 'sol', dogecoin: 'doge' },
};

export type Searched = Pick<LatestEntry, 'name' | 'slug' | 'kind' | 'unit' | 'currency'>;

/** An entry that is the same object has the same text. */
const texts = new WeakMap<Searched, string>();

/** Whether a market has every word of a text. Empty: yes. */
export function marketMatcher(text: string): (entry: Searched) => boolean {
  const words = plain(text).split(/\s+/).filter(Boolean);
  return (entry) => words.length === 0 || words.every((word) => searchTextOf(entry).includes(word));
}

function searchTextOf(entry: Searched): string {
  const known = texts.get(entry);
  if (known !== undefined) return known;
  const { name, slug, kind, unit, currency } = entry;
  const own = plain([name, slug, kind, unit, currency].join(' '));
  const words = own.split(/[^\p{L}\p{N}]+/u);
  const isTicker = /^[A-Z0-9]{2,6}$/.test(unit);
  // A unit that is a ticker says what is priced: Bitcoin Cash is no bitcoin.
  const codes = isTicker ? [plain(unit)] : words.flatMap((word) => (Object.hasOwn(CODES, word) ? [CODES[word]] : []));
  const names = Object.keys(CODES).filter((name) => codes.includes(CODES[name]));
  const quote = plain(currency);
  const pairs = codes.flatMap((code) => [`${code}/${quote}`, `${code}${quote}`, `${code}-${quote}`]);
  const made = [own, ...codes, ...names, ...pairs].join(' ');
  texts.set(entry, made);
  return made;
}

/** Without accents and capitals: `São Tomé` is found by `sao tome`. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}
