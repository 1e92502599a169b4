/** Guesses the quantity that the file's numbers are prices of: by a column of quantities, or by the name of a price column. */
import { checkCurrencyCode } from '../../contract/values/money/currencies.ts';
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { areHundredths, HUNDREDTHS, LETTERS } from '../values/hundredths.ts';
import type { Column } from './column.ts';
import { Commented } from './commented-json.ts';

/** The meaning of a name such as `price_eur_per_100kg` or `input_per_mtok`. */
export interface NamedQuantity {
  /** Null: the name says what a price buys, and not how many. */
  readonly quantity: number | null;
  /** Whether the name has only one meaning. `per_1m` may be a million or a metre. */
  readonly isSure: boolean;
  /** The thing that a price buys; null: the name does not say it. */
  readonly of: string | null;
  /** The word for hundredths of the currency, such as `ct`, for which `quantity` is a hundred times as large. Null: none. */
  readonly hundredths: string | null;
}

const MULTIPLES: ReadonlyMap<string, number> = new Map([
  ...(['hundred', 'hundert'] as const).map((word) => [word, 100] as const),
  ...(['k', 'thousand', 'thousands', 'mille', 'tausend'] as const).map((word) => [word, 1e3] as const),
  ...(['m', 'mn', 'mio', 'million', 'millions'] as const).map((word) => [word, 1e6] as const),
  ...(['bn', 'billion', 'billions'] as const).map((word) => [word, 1e9] as const),
]);
/** `per 100 kg`, `per_mtok`, `/1M tokens`, `per £1`: the sign, the count, its multiple and the thing. */
const PER = /(?:(?:^|[^a-z])per(?=[^a-z]|$)[\s_-]*|[/÷]\s*)(\p{Sc}?)\s*(\d{1,3}(?:[,' ]\d{3})+|\d+)?[\s_-]*(.*)$/iu;
const OF_MONEY = /(?:\p{Sc}|(?<!\p{L})[A-Z]{3})\s?[/÷]\s?(\p{L}[\p{L}²³]*)/u;
const MULTIPLE = /^(hundred|hundert|thousands?|tausend|mille|millions?|billions?|mio|mn|bn|m|k)(?:[\s_-]+|(?=tok)|$)/i;
const TOKENS = /^(tok|toks|token|tokens)$/i;
const SIGNS: Readonly<Record<string, string>> = { '£': 'GBP', '€': 'EUR', $: 'USD' };

/** Abbreviations that mean something else, too. */
const SHORT_HUNDREDTHS = `${LETTERS}|gr|ore|rp|sen`;
const BEFORE_PER = String.raw`[\s._)\]-]*(?:[/÷]|per(?!\p{L}))`;
/** `ct/kWh`, `price_cents_per_litre`; and `USc/lb`, `EURct/kWh`. */
const HUNDREDTHS_PER = [
  new RegExp(`(?<![\\p{L}\\p{N}])(${HUNDREDTHS}|${SHORT_HUNDREDTHS})${BEFORE_PER}`, 'iu'),
  new RegExp(`(?<=(?<!\\p{L})[A-Z]{2,3})([Cc]ents?|cts?|¢|c|p)${BEFORE_PER}`, 'u'),
];
/** `price_cents`, `Cent pro kWh`. A carat, as in `price_per_ct`, is a thing. */
const HUNDREDTHS_ALONE = new RegExp(`(?<![\\p{L}\\p{N}]|per[\\s_-]|[/÷]\\s?)(${HUNDREDTHS})(?![\\p{L}\\p{N}])`, 'iu');

/** Null: the name says nothing about a quantity or a thing. */
export function quantityNamedBy(name: string): NamedQuantity | null {
  // `kWh` is one word.
  const words = name.replace(/(?<=[a-z]{2}|\d)(?=[A-Z])/g, '_');
  const named = countNamedBy(words);
  const before = HUNDREDTHS_PER.map((form) => form.exec(words)?.[1]).find((word) => word !== undefined);
  const hundredths = before ?? (words.length > 3 ? HUNDREDTHS_ALONE.exec(words)?.[1] : undefined);
  if (hundredths === undefined) return named && { ...named, hundredths: null };
  const isSure = before !== undefined && !new RegExp(`^(${SHORT_HUNDREDTHS})$`, 'i').test(before);
  return {
    quantity: HUNDRED * (named?.quantity ?? 1),
    isSure: isSure && named?.isSure !== false,
    of: named?.of ?? thingAfterSlash(words),
    hundredths,
  };
}

const HUNDRED = 100;

/** After `ct/`, a word is a thing. It is not the second currency of a pair. */
function thingAfterSlash(name: string): string | null {
  const [, thing] = /[/÷]\s*(\p{L}[\p{L} ]*)[^\p{L}\p{N}]*$/u.exec(name) ?? [];
  return thing ?? null;
}

function countNamedBy(name: string): Omit<NamedQuantity, 'hundredths'> | null {
  const [found, sign = '', digits, rest = ''] = PER.exec(name) ?? [];
  if (found === undefined) return null;
  const [spelled, multiple] = MULTIPLE.exec(rest) ?? ['', undefined];
  const isSlash = /^[/÷]/.test(found);
  const thing = rest.slice(spelled.length).replace(/[^\p{L}\p{N}]+$/u, '');
  const isWord = /^\p{L}[\p{L} ]*$/u.test(thing);
  const of = TOKENS.test(thing) ? 'token' : isWord ? codeOr(thing) : (SIGNS[sign] ?? null);
  if (digits === undefined && multiple === undefined) {
    // `EUR/USD` is the name of a pair; `EUR/MWh` and `per_kg` say what one price buys.
    const [, bought = ''] = OF_MONEY.exec(name) ?? [];
    if (!isSlash) return of === null ? null : { quantity: null, isSure: true, of };
    const isPair = bought === '' || checkCurrencyCode(bought.toUpperCase()) === null;
    return isPair ? null : { quantity: null, isSure: true, of: bought };
  }
  // "per m" is the price of a metre. Capitals, or tokens after it, say that it is a million.
  const isLetter = /^[mk]$/i.test(multiple ?? '') && of === null;
  if (digits === undefined && isLetter && multiple === multiple?.toLowerCase()) {
    return isSlash ? null : { quantity: null, isSure: true, of: multiple ?? null };
  }
  const quantity = Number(digits?.replaceAll(/\D/g, '') ?? 1) * (MULTIPLES.get(multiple?.toLowerCase() ?? '') ?? 1);
  if (!Number.isSafeInteger(quantity) || quantity < 1) return null;
  const isSure = !isLetter || (digits !== undefined && multiple !== 'm');
  return { quantity, isSure, of };
}

function codeOr(word: string): string {
  return checkCurrencyCode(word.toUpperCase()) === null ? word.toUpperCase() : word;
}

/** A column with the quantity of each row's price. */
export interface QuantityColumn {
  readonly column: Column;
  /** Whether its name, or several powers of ten in it, leave no doubt. */
  readonly isSure: boolean;
}

const QUANTITY_NAME =
  /(^|[^a-z])(units?|per|quantity|qty|nominal|multiplier|pack|lot|unit[ _-]?size|einheit(en)?|unit[ée]s?)$/i;
/** These columns are prices, or may be powers of ten by chance. */
const OTHER_NAME =
  /price|rate|value|cost|close|(^|[^a-z])(id|line|row|no|nr|num|number|year|month|day|week|hour|index|rank|code|count|volume|level|version|revision)$/i;

/** @param columns columns of numbers, perhaps with the prices */
export function quantityColumnOf(columns: readonly Column[]): QuantityColumn | null {
  const found = columns.flatMap((column) => {
    const { name, isIntegers, words, distinct } = column;
    const values = [...distinct];
    if (!isIntegers || words.size > 0 || values.includes('0') || OTHER_NAME.test(name)) return [];
    const arePowers = values.every((text) => /^10*$/.test(text));
    if (QUANTITY_NAME.test(name)) return [{ column, isSure: arePowers, rank: arePowers ? 3 : 1 }];
    if (!arePowers || values.every((text) => text === '1')) return [];
    return [{ column, isSure: values.length > 1, rank: values.length > 1 ? 2 : 0 }];
  });
  const [best] = found.sort((one, other) => other.rank - one.rank);
  return best ?? null;
}

/** Columns with units or currencies in their cells. */
const UNIT_COLUMN = /unit|uom|einheit|curr|ccy|währung|waehrung|devise/i;

/** A column whose cells contain a word for hundredths of the currency. */
export interface HundredthsColumn {
  readonly column: Column;
  readonly word: string;
}

/** What the cells say about the quantity. */
export interface Quoting {
  /** The column with the quantity of each row's price. */
  readonly quoted: QuantityColumn | null;
  readonly hundredths: HundredthsColumn | null;
}

/** @param values the columns with prices: a word may stand beside each number, or in a row of units */
export function hundredthsColumnOf(columns: readonly Column[], values: readonly Column[]): HundredthsColumn | null {
  for (const column of [...values, ...columns.filter(({ name }) => UNIT_COLUMN.test(name))]) {
    for (const text of values.includes(column) ? [...column.signs, ...column.words.keys()] : column.distinct) {
      // `EUR ct`, `ct/kWh`, `pence per litre`, `USc/lb`.
      const [word = ''] = text.replace(/^[A-Z]{2,3}(?=c|p|\s)\s?/, '').split(/\s*[/÷]|\s+(?:per|pro)\s/i);
      if (areHundredths(word)) return { column, word };
    }
  }
  return null;
}

/** The meaning of the name of a price column, unless cells say that its numbers are hundredths. */
function quantityOf(name: string, cells: HundredthsColumn | null): NamedQuantity | null {
  const named = quantityNamedBy(name);
  if (cells === null || named?.hundredths != null) return named;
  const { quantity, of = null } = named ?? {};
  return { quantity: HUNDRED * (quantity ?? 1), isSure: false, of, hundredths: cells.word };
}

/** The quantity of one row, for the guess of the market's own quantity. */
export function quotedIn({ quoted, hundredths: cells }: Quoting, name: string, row: number): number {
  if (quoted === null) return quantityOf(name, cells)?.quantity ?? 1;
  const text = quoted.column.cells[row] ?? '';
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 1;
}

/**
 * The mapping's `quotedQuantity`.
 *
 * @param names the names of the columns that may be the price
 * @returns undefined: nothing in the file says that it is not one
 */
export function draftQuoted(
  { quoted, hundredths: cells }: Quoting,
  names: readonly string[],
): Commented | string | undefined {
  const all = names.map((name) => ({ name, ...quantityOf(name, cells) }));
  const inHundredths = all.find(({ hundredths }) => hundredths != null);
  if (quoted !== null) {
    const { name } = quoted.column;
    if (inHundredths !== undefined)
      return `${FILL_IN}: a hundred times the column ${name}, if ${inHundredths.name} has hundredths of the currency (${inHundredths.hundredths}): a column with these quantities can be added by a table. If it has whole ones, {${name}}`;
    if (quoted.isSure)
      return new Commented(`{${name}}`, `Each number is the price of as many as the column ${name} says.`);
    return `${FILL_IN}: {${name}}: is each number the price of as many as the column ${name} says? If not, write "1", or the quantity of all prices`;
  }
  const named = new Map(all.flatMap((each) => (each.quantity == null ? [] : [[each.quantity, each] as const])));
  const [first, ...others] = [...named.values()];
  if (first === undefined) return undefined;
  const isSure = first.isSure && others.length === 0 && all.every(({ quantity }) => quantity != null);
  if (isSure) {
    const why = first.hundredths == null ? '' : ` ${inWholes(first)}`;
    const columns =
      names.length === 1
        ? `The column ${first.name} says so.`
        : `The columns ${names.join(', ')} say so. Each entry of "also" needs its own.`;
    return new Commented(String(first.quantity), columns + why);
  }
  const saying = (quantity: number | undefined) =>
    all.filter((each) => each.quantity === quantity).map(({ name }) => name);
  const which = [...named.keys()].map((quantity) => `${quantity} (${saying(quantity).join(', ')})`).join(' or ');
  const doubt =
    inHundredths === undefined
      ? ''
      : ` ${inWholes(inHundredths)} If the numbers of ${inHundredths.name} are whole ones: ${(inHundredths.quantity ?? HUNDRED) / HUNDRED}`;
  return `${FILL_IN}: ${which}: the price of how many is a number of this column?${doubt}`;
}

/** Says why a quantity is a hundred times as large. */
function inWholes({ hundredths, quantity, of }: Partial<NamedQuantity>): string {
  const [one, hundred] = [(quantity ?? HUNDRED) / HUNDRED, quantity].map((count) => `${count} ${of ?? ''}`.trim());
  return `"${hundredths}" stands for hundredths of the currency: 5 ${hundredths} for ${one} are a price of 5 (EUR, for example) for ${hundred}.`;
}
