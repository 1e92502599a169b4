/** Writes the market of the starting mapping: its currency, its quantity, its unit, and the tables that they need. */
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { type CommentedField, type CommentedObject, field, object } from './commented-json.ts';
import { freeName, type MappingDraft } from './draft.ts';
import type { QuantityGuess } from './guess-quantity.ts';

export function draftMarket(
  { guess, match, isList }: MappingDraft,
  fileName: string,
  currency: string,
  unit: CommentedObject,
  unitComment: string,
): CommentedObject {
  const file =
    fileName
      .replace(/\.[^.]*?(\.gz|\.zst)?$/i, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.join('-') || 'market';
  const slug = [file, ...match.map((column) => `{${column}}`)].join('-');
  return object(
    field(
      'slug',
      guess.market.isSure ? slug : `${FILL_IN}: ${slug}: with each column of match`,
      'Becomes the public address of a market, and cannot change later.',
    ),
    isList && field('slugDigest', 'unless-exact', 'A name that a slug cannot spell gets eight characters of a digest.'),
    field(
      'name',
      match.length === 0 ? `${FILL_IN}: the name of the market` : match.map((column) => `{${column}}`).join(', '),
    ),
    field('kind', `${FILL_IN}: a word such as fx, metal, commodity or food`),
    field('nativeCurrency', currency),
    field('unit', unit, unitComment),
    field('sources', [
      object(
        field('label', `${FILL_IN}: the name of the source, as readers see it`),
        field('url', `${FILL_IN}: the home page of the data`),
        field('publisher', `${FILL_IN}: who publishes the data; or null`),
        field('licence', `${FILL_IN}: its SPDX identifier, such as CC0-1.0; or null`),
        field('attribution', `${FILL_IN}: the words that the licence asks for; or null`),
      ),
    ]),
  );
}

/** The template of the currency, and the fields of the table that it may need. */
export function draftCurrency({ guess: { currency }, added, table: { columns } }: MappingDraft): {
  readonly template: string;
  readonly table: readonly CommentedField[] | null;
} {
  if (currency.kind === 'unknown') {
    const from = currency.candidates.map((column) => `{${column}}`).join(' or ');
    const hint =
      from === ''
        ? 'the ISO 4217 code of the prices, such as USD'
        : `${from}: which column has the currency of the prices?`;
    return { template: `${FILL_IN}: ${hint}`, table: null };
  }
  if (currency.kind === 'named') return { template: currency.code, table: null };
  const column = currency.kind === 'header' && added !== null ? added.name : currency.column;
  if (currency.isSpeltOut) return { template: `{${column}}`, table: null };
  const name = freeName(columns, 'currencyCode');
  const rows = object(...currency.codes.toSorted().map((code) => field(code, [code.toUpperCase()])));
  return {
    template: `{${name}}`,
    table: [
      field('key', `{${column}}`),
      field('columns', [name], 'ISO 4217 spells them in capitals.'),
      field('rows', rows),
    ],
  };
}

export interface DraftQuantity {
  readonly template: string;
  /** The quantities, if some market's is more than one. */
  readonly isLarger: boolean;
  readonly largest: number;
  readonly comment: string;
  /** Of an exact one: the least. */
  readonly atLeast?: string;
  /** The table of the template's column, if markets differ. */
  readonly table: readonly CommentedField[] | null;
  readonly lossy: number;
  readonly numbers: number;
  readonly lossyExample: string;
}

export function draftQuantity(
  { byMarket, largest, unfit, example, ...counts }: QuantityGuess,
  { table: { columns }, guess: { currency }, match, isList }: MappingDraft,
): DraftQuantity {
  const comment = largest > 1 ? quantityComment({ unfit, example, ...counts }, currency.kind === 'unknown') : '';
  const quantities = new Set(byMarket?.values() ?? [largest]);
  if (isList && largest > 1) {
    const atLeast = String(mostFrequent([...(byMarket?.values() ?? [largest])]));
    return { template: 'exact', atLeast, isLarger: true, largest, comment: EXACT, table: null, ...counts };
  }
  if (byMarket === null || quantities.size <= 1) {
    return { template: String(largest), isLarger: largest > 1, largest, comment, table: null, ...counts };
  }
  const rows = object(...[...byMarket].map(([market, quantity]) => field(market, [String(quantity)])));
  const name = freeName(columns, 'quantity');
  const key = match.map((column) => `{${column}}`).join('-');
  const table = [field('key', key), field('columns', [name]), field('rows', rows)];
  return { template: `{${name}}`, isLarger: true, largest, comment, table, ...counts };
}

const EXACT =
  'How many one price buys: for each market, the smallest power of ten from "atLeast" on for which each number is a whole number of minor units.';

function mostFrequent(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 1;
}

function quantityComment(
  { unfit, numbers, example, lossy }: Pick<QuantityGuess, 'unfit' | 'numbers' | 'example' | 'lossy'>,
  isCurrencyOpen: boolean,
): string {
  const decimals = isCurrencyOpen ? ', if the currency has 2 decimals' : '';
  const kept =
    lossy === 0
      ? 'the smallest power of ten for which each number is a whole number of minor units'
      : 'a power of ten, so that minor units keep the digits that matter';
  return (
    `How many one price buys: ${kept}${decimals}. For one, ${unfit} of ${numbers} numbers would be rounded, such as ` +
    `${example}. The unit is fixed once a market has observations.`
  );
}

const WHOLE_PACKS = 'The quantity must be a whole number: 1.5 KG is 1500 g.';
const UNIT_NAME = /^(unit|uom|unit[_ ]?of[_ ]?measure)$/i;

/** The unit, and the fields of the table that tells `50 KG` apart into 50 and KG; null if none is needed. */
export function draftUnit(
  { guess, table: { columns } }: MappingDraft,
  quantity: DraftQuantity,
): {
  readonly unit: CommentedObject;
  /** It has the quantities, too. */
  readonly table: readonly CommentedField[] | null;
  /** How many of the unit the numbers of the file buy. */
  readonly quoted: string;
} {
  const column = guess.market.match.find(({ name }) => UNIT_NAME.test(name));
  if (column === undefined) {
    const of = `${FILL_IN}: the thing that the price buys, such as barrel, kg or EUR`;
    const least = quantity.atLeast !== undefined && field('atLeast', quantity.atLeast);
    return { unit: object(field('quantity', quantity.template), least, field('of', of)), table: null, quoted: '1' };
  }
  const packs = [...(column.distinct?.keys() ?? [])].toSorted().map((text) => ({ text, pack: packOf(text) }));
  if (packs.every(({ pack }) => pack === null)) {
    const unit = object(field('quantity', quantity.template), field('of', `{${column.name}}`));
    return { unit, table: null, quoted: '1' };
  }
  const [count, of, quoted] = ['quantity', 'unitOfOne', 'quotedQuantity'].map((name) => freeName(columns, name)) as [
    string,
    string,
    string,
  ];
  // A pack is counted as often as the market with the longest numbers needs it: one table is enough then.
  const rowOf = ([packed, name]: readonly [string, string]) =>
    quantity.isLarger ? [String(Number(packed) * quantity.largest), name, packed] : [packed, name];
  return {
    unit: object(field('quantity', `{${count}}`), field('of', `{${of}}`)),
    table: [
      field('key', `{${column.name}}`),
      field('columns', quantity.isLarger ? [count, of, quoted] : [count, of], WHOLE_PACKS),
      field('rows', object(...packs.map(({ text, pack }) => field(text, rowOf(pack ?? ['1', text]))))),
    ],
    quoted: `{${quoted}}`,
  };
}

/** `50 KG` as 50 and KG. Null: no whole number of something. */
function packOf(text: string): readonly [quantity: string, of: string] | null {
  const [, quantity, of] = /^([1-9]\d{0,8}) *([^\d\s.,]\D*)$/.exec(text) ?? [];
  return quantity === undefined || of === undefined ? null : [quantity, of];
}
