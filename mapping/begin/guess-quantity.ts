/** Guesses the quantity for which prices keep their digits. */
import { currencyExponent } from '../../contract/currencies.ts';
import type { QuotedNumber } from './quoted-numbers.ts';

export interface QuantityGuess {
  /** The smallest power of ten for which hardly a price loses more than 1 part in 100,000. */
  readonly largest: number;
  /** The same for each market; null if one is enough for all, or if there are too many to list. */
  readonly byMarket: ReadonlyMap<string, number> | null;
  /** Numbers that do not fit their currency's decimals, at quantity 1. */
  readonly unfit: number;
  readonly numbers: number;
  readonly example: string;
}

/** Nobody would read a longer list. */
const MARKETS_MAX = 300;
const LARGEST_POWER = 6;
const NONE = new Array<number>(LARGEST_POWER + 1).fill(0);
const LOSS = 1e-5;
/** A few long numbers, such as averages or errors, are rounded instead. */
const FEW = 0.05;
/** Most currencies have cents. */
const EXPONENT = 2;

export async function guessQuantity(numbers: AsyncIterable<QuotedNumber>): Promise<QuantityGuess> {
  /** How many numbers need each power of ten: of each market, and of all. */
  const needs = new Map<string, number[]>();
  const all = [...NONE];
  let [count, unfit, example] = [0, 0, ''];
  for await (const { digits, currency, market } of numbers) {
    count += 1;
    const exponent = (currency === null ? null : currencyExponent(currency)) ?? EXPONENT;
    const decimals = digits.split('.')[1]?.replace(/0+$/, '').length ?? 0;
    const power = decimals <= exponent ? 0 : neededPower(Math.abs(Number(digits)) * 10 ** exponent);
    all[power] = (all[power] ?? 0) + 1;
    const ofMarket = needs.get(market) ?? [...NONE];
    ofMarket[power] = (ofMarket[power] ?? 0) + 1;
    if (needs.size <= MARKETS_MAX) needs.set(market, ofMarket);
    if (decimals <= exponent) continue;
    unfit += 1;
    example ||= `${digits}${currency === null ? '' : ` ${currency}`}`;
  }
  const largest = 10 ** powerForMost(all);
  const isSplit = largest > 1 && needs.size <= MARKETS_MAX;
  const byMarket = new Map([...needs].map(([market, counts]) => [market, 10 ** powerForMost(counts)]));
  return { byMarket: isSplit ? byMarket : null, largest, unfit, numbers: count, example };
}

function neededPower(minorUnits: number): number {
  for (let power = 0; power < LARGEST_POWER; power++) {
    const amount = minorUnits * 10 ** power;
    if (Math.abs(amount - Math.round(amount)) <= LOSS * amount) return power;
  }
  return LARGEST_POWER;
}

function powerForMost(counts: readonly number[]): number {
  let larger = counts.reduce((sum, count) => sum + count, 0);
  const few = larger * FEW;
  return counts.findIndex((count) => {
    larger -= count;
    return larger <= few;
  });
}
