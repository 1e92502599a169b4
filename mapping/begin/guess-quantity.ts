/**
 * Guesses the quantity at which prices keep their digits. The first observation fixes it permanently, so no digit may be lost.
 */
import { QUANTITY_MAX } from '../../contract/files/limits.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { plainDecimal } from '../../contract/values/money/money.ts';
import { numberReader } from '../values/number-format.ts';
import type { Draft } from './draft.ts';
import { quotedIn } from './guess-quoted.ts';

export interface QuantityGuess {
  /** The smallest power of ten at which each number is whole minor units. Null: no power of ten is large enough. */
  readonly all: number | null;
  /** For numbers that may be amounts of the listed currencies or prices of them: `all` for the less probable meaning, if it differs. */
  readonly otherwise: { readonly quantity: number; readonly meaning: 'amounts' | 'prices' } | null;
  /**
   * For a list of current prices: the median over the rows of what a row's own numbers need, a hundred times as large where
   * it is not one and amounts have room for it. The next price of a list often has more decimals, and the quantity of a market cannot change.
   */
  readonly usual: number;
  /** The number of values that do not fit their currency's decimals at quantity one, and the one with most decimals. */
  readonly unfit: number;
  readonly numbers: number;
  readonly example: string;
}

/** Prices may become a hundred times as large before they exceed the exact integers of JSON readers (2^53−1). */
const ROOM = 100;
/** The minor units of most currencies are hundredths. */
const EXPONENT = 2;
/** More decimals of later prices. */
const SPARE_POWER = 2;
const LARGEST_POWER = Math.log10(QUANTITY_MAX);

export function guessQuantity({ table, guess }: Draft): QuantityGuess {
  const { number, values, currency, quoted } = guess;
  const read = numberReader(number?.formats[0] ?? { decimalMark: '.' });
  const codes = currency.kind === 'column' ? table.columns.find(({ name }) => name === currency.column) : undefined;
  const codeOf = (row: number, name: string): string => {
    if (currency.kind === 'named') return currency.code;
    return codes === undefined ? name : (codes.cells[row] ?? '');
  };
  const isAmbiguous = 'isAmbiguous' in currency && currency.isAmbiguous;
  // A quantity for each currency, such as 100 JPY, means prices in one other currency, whose decimals are probably two.
  const arePrices = quoted !== null;
  let [largest, most, mostOtherwise, unfit, numbers, example] = [0, 0, 0, 0, 0, ''];
  const powers: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    let ofRow = 0;
    for (const { name, cells } of values) {
      const digits = read(cells[row] ?? '');
      if (digits === null) continue;
      const code = codeOf(row, name).toUpperCase();
      const own = currencyExponent(code) ?? EXPONENT;
      const exponent = !isAmbiguous ? own : arePrices ? EXPONENT : Math.min(own, EXPONENT);
      const decimals = plainDecimal(digits).split('.')[1]?.replace(/0+$/, '').length ?? 0;
      const lot = quotedIn(guess, name, row);
      // A price of a hundred is a hundredth of it for one.
      const power = Math.max(0, decimals - exponent) + Math.ceil(Math.log10(lot));
      mostOtherwise = Math.max(
        mostOtherwise,
        Math.max(0, decimals - (arePrices ? own : EXPONENT)) + Math.ceil(Math.log10(lot)),
      );
      largest = Math.max(largest, (Math.abs(Number(digits)) * 10 ** exponent) / lot);
      numbers += 1;
      ofRow = Math.max(ofRow, power);
      if (power > 0) unfit += 1;
      if (power > most) [most, example] = [power, digits];
    }
    powers.push(ofRow);
  }
  const fits = most <= LARGEST_POWER && (most === 0 || largest * 10 ** most * ROOM <= Number.MAX_SAFE_INTEGER);
  const median = powers.sort((one, other) => one - other)[powers.length >> 1] ?? 0;
  const hasRoom = median > 0 && largest * 10 ** (median + SPARE_POWER) * ROOM <= Number.MAX_SAFE_INTEGER;
  const isOther = isAmbiguous && mostOtherwise !== most;
  const quantity = 10 ** Math.min(mostOtherwise, LARGEST_POWER);
  const otherwise = isOther ? ({ quantity, meaning: arePrices ? 'amounts' : 'prices' } as const) : null;
  return {
    all: fits ? 10 ** most : null,
    otherwise,
    usual: 10 ** Math.min(median + (hasRoom ? SPARE_POWER : 0), LARGEST_POWER),
    unfit,
    numbers,
    example,
  };
}
