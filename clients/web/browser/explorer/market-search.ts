/** Which markets a reader means by a name, a ticker, a pair, a unit or a kind. Pure. */
import type { LatestEntry } from '../../../../contract/files/latest-entries.ts';

/** Codes of metals (ISO 4217) and usual tickers, by the name that a market may have instead. */
const CODES: Readonly<Record<string, string>> = {
  ...{ gold: 'xau', silver: 'xag', platinum: 'xpt', palladium: 'xpd' },
  ...{ bitcoin: 'btc', ethereum: 'eth', ether: 'eth', litecoin: 'ltc', solana: 'sol', dogecoin: 'doge' },
};

export type Searched = Pick<LatestEntry, 'name' | 'slug' | 'kind' | 'unit' | 'currency'>;

const PREPARED_AT_ONCE = 500;

/** An entry that is the same object has the same text. */
const texts = new WeakMap<Searched, string>();

/** Makes the texts of many markets before somebody searches, some at a time. */
export function prepareSearch(entries: readonly Searched[], from = 0): void {
  if (from >= entries.length) return;
  setTimeout(() => {
    const end = from + PREPARED_AT_ONCE;
    for (const entry of entries.slice(from, end)) searchTextOf(entry);
    prepareSearch(entries, end);
  });
}

/** Whether a market has every word of a text. Empty: yes. */
export function marketMatcher(text: string): (entry: Searched) => boolean {
  const [first, ...others] = plain(text).split(/\s+/).filter(Boolean);
  if (first === undefined) return () => true;
  return (entry) => {
    const own = searchTextOf(entry);
    return own.includes(first) && others.every((word) => own.includes(word));
  };
}

/** `EUR/USD` for `usd-eur` and `usdeur`: the same rate, seen from the other side. Null: the text is no pair. */
export function inversePair(text: string): string | null {
  const pair = /^([a-z]{2,6})[/-]([a-z]{2,6})$|^([a-z]{3})([a-z]{3})$/i.exec(text.trim());
  if (pair === null) return null;
  const [, base = pair[3], quote = pair[4]] = pair;
  return `${quote}/${base}`.toUpperCase();
}

function searchTextOf(entry: Searched): string {
  const known = texts.get(entry);
  if (known !== undefined) return known;
  const { name, slug, kind, unit, currency } = entry;
  const own = plain([name, slug, kind, unit, currency].join(' '));
  // A unit that is a ticker says what is priced: Bitcoin Cash is no bitcoin.
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
