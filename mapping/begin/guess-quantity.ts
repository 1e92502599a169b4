/** Guesses the quantity for which prices keep their digits. It is fixed from the first observation on, so nothing may be lost. */
import { currencyExponent } from '../../contract/values/currencies.ts';
import type { QuotedNumber } from './quoted-numbers.ts';

export interface QuantityGuess {
  /** As a power of ten, for all markets: the smallest for which each number is whole minor units. */
  readonly largest: number;
  /** The same for each market; null if one is enough for all, or if there are too many to list. */
  readonly byMarket: ReadonlyMap<string, number> | null;
  /** Numbers that do not fit their currency's decimals, at quantity 1. */
  readonly unfit: number;
  readonly numbers: number;
  readonly example: string;
  /** Numbers of markets for which no quantity keeps each number, and one of them. */
  readonly lossy: number;
  readonly lossyExample: string;
}

/** Nobody would read a longer list. */
const MARKETS_MAX = 300;
/** That of the largest unit (`QUANTITY_MAX`). */
const LARGEST_POWER = 15;
/** Prices may become a hundred times as large before they are more than JSON readers hold (2^53−1). */
const ROOM = 100;
/** If no quantity keeps all, each number but a few loses at most this part of itself. */
const LOSS = 1e-5;
const FEW = 0.05;
/** Most currencies have cents. */
const EXPONENT = 2;

/** The numbers of one market, or of all. */
class Numbers {
  count = 0;
  unfit = 0;
  example = '';
  /** Minor units, at quantity 1. */
  #largest = 0;
  #exact = 0;
  /** How many numbers need each power of ten to lose next to nothing. */
  readonly #needs = new Array<number>(LARGEST_POWER + 1).fill(0);

  add(digits: string, currency: string | null): void {
    const exponent = (currency === null ? null : currencyExponent(currency)) ?? EXPONENT;
    const decimals = digits.split('.')[1]?.replace(/0+$/, '').length ?? 0;
    const minorUnits = Math.abs(Number(digits)) * 10 ** exponent;
    this.count += 1;
    this.#largest = Math.max(this.#largest, minorUnits);
    const power = decimals <= exponent ? 0 : neededPower(minorUnits);
    this.#needs[power] = (this.#needs[power] ?? 0) + 1;
    if (decimals <= exponent) return;
    this.unfit += 1;
    if (decimals - exponent > this.#exact || this.example === '') {
      this.#exact = decimals - exponent;
      this.example = `${digits}${currency === null ? '' : ` ${currency}`}`;
    }
  }

  /** Null if no quantity keeps each number. */
  get exactPower(): number | null {
    return this.#exact <= LARGEST_POWER && this.#fits(this.#exact) ? this.#exact : null;
  }

  /** Without one that keeps each number: one that keeps most digits that matter. */
  get power(): number {
    if (this.exactPower !== null) return this.exactPower;
    let power = this.#powerForMost();
    while (power > 0 && !this.#fits(power)) power -= 1;
    return power;
  }

  #fits(power: number): boolean {
    return power === 0 || this.#largest * 10 ** power * ROOM <= Number.MAX_SAFE_INTEGER;
  }

  #powerForMost(): number {
    let larger = this.count;
    const few = larger * FEW;
    return this.#needs.findIndex((count) => {
      larger -= count;
      return larger <= few;
    });
  }
}

export async function guessQuantity(numbers: AsyncIterable<QuotedNumber>): Promise<QuantityGuess> {
  const all = new Numbers();
  const markets = new Map<string, Numbers>();
  for await (const { digits, currency, market } of numbers) {
    all.add(digits, currency);
    let own = markets.get(market);
    if (own === undefined) {
      own = new Numbers();
      if (markets.size <= MARKETS_MAX) markets.set(market, own);
    }
    own.add(digits, currency);
  }
  const isListed = markets.size <= MARKETS_MAX;
  const groups = isListed ? [...markets.values()] : [all];
  const lossy = groups.filter(({ exactPower }) => exactPower === null);
  const powers = groups.map(({ power }) => power);
  const largest = 10 ** Math.max(0, ...powers);
  return {
    largest,
    byMarket:
      isListed && largest > 1 ? new Map([...markets].map(([market, { power }]) => [market, 10 ** power])) : null,
    ...{ unfit: all.unfit, numbers: all.count, example: all.example },
    lossy: lossy.reduce((sum, { count }) => sum + count, 0),
    lossyExample: lossy[0]?.example ?? '',
  };
}

function neededPower(minorUnits: number): number {
  for (let power = 0; power < LARGEST_POWER; power++) {
    const amount = minorUnits * 10 ** power;
    if (Math.abs(amount - Math.round(amount)) <= LOSS * amount) return power;
  }
  return LARGEST_POWER;
}
