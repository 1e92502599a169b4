/** The quantities of markets whose unit is `exact`: they are derived from all amounts of the file. */

import { QUANTITY_MAX } from '../../contract/files/limits.ts';
import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { toMinorUnits } from '../../contract/values/money/money.ts';
import type { MappedRecord, MappedRow } from './mapped-rows.ts';

/**
 * Passes the rows on after all have been read. Each market then has the smallest power of ten, from the mapping's minimum on,
 * at which each of its amounts is whole minor units. Programs write 1.6e-06 as 1.6000000000000001e-06. So if no quantity up to
 * 10^15 is exact for an amount, one at which it loses less than a millionth of itself is accepted. No quantity makes the
 * market's largest amount more than 2^53−1: the row rules decide about an amount that would need one.
 */
export async function* withQuantities<Header extends { readonly kind: 'header' }>(
  rows: AsyncIterable<Header | MappedRow>,
): AsyncGenerator<Header | MappedRow> {
  const all: (Header | MappedRow)[] = [];
  const markets = new Map<string, MarketAmounts>();
  for await (const row of rows) {
    all.push(row);
    if (row.kind === 'header') continue;
    for (const { record } of row.results.filter((result) => result.kind === 'record')) {
      if (record.type === 'market') markets.set(record.slug, { unit: record.unit, largest: [] });
      const amount = amountOf(record);
      const market = amount && markets.get(amount.market);
      if (market) market.largest = withLargest(market.largest, amount);
    }
  }
  for (const row of all) {
    if (row.kind === 'header') continue;
    for (const result of row.results) {
      const amount = result.kind === 'record' ? amountOf(result.record) : null;
      const market = amount && markets.get(amount.market);
      if (market) market.unit.quantity = quantityFor(market.unit.quantity, amount, market.largest);
    }
  }
  yield* all;
}

interface MarketAmounts {
  /** The unit in the market's record, which is changed in place. */
  readonly unit: MarketRecord['unit'];
  largest: readonly Amount[];
}

interface Amount {
  readonly market: string;
  readonly digits: string;
  readonly exponent: number;
  readonly quoted: number;
}

/** Null for a record without a known amount of money. */
function amountOf(record: MappedRecord['record']): Amount | null {
  if (record.type !== 'observation' || !('value' in record) || !('currency' in record) || record.value === null) {
    return null;
  }
  const { market, value: digits, currency, quotedQuantity: quoted = 1 } = record;
  return { market, digits, exponent: currencyExponent(currency) as number, quoted };
}

function quantityFor(least: number, amount: Amount, largest: readonly Amount[]): number {
  for (let quantity = least; quantity <= QUANTITY_MAX; quantity *= 10) {
    if (largest.some((other) => 'error' in minorUnits(other, quantity))) return Math.max(least, quantity / 10);
    const found = minorUnits(amount, quantity);
    if ('rounded' in found && !found.rounded) return quantity;
  }
  return quantityForMost(least, amount);
}

function quantityForMost(least: number, amount: Amount): number {
  const { digits, exponent, quoted } = amount;
  for (let quantity = least; quantity < QUANTITY_MAX; quantity *= 10) {
    const found = minorUnits(amount, quantity);
    // The size of an error need not be exact.
    const right = (Number(digits) * 10 ** exponent * quantity) / quoted;
    if ('error' in found || Math.abs(found.amountMinor - right) < LOSS * Math.abs(right)) return quantity;
  }
  return QUANTITY_MAX;
}

const LOSS = 1e-6;

/** The largest amounts: one for each exponent and quoted quantity. */
function withLargest(kept: readonly Amount[], amount: Amount): readonly Amount[] {
  const same = kept.find(({ exponent, quoted }) => exponent === amount.exponent && quoted === amount.quoted);
  if (same === undefined) return [...kept, amount];
  if (Math.abs(Number(same.digits)) >= Math.abs(Number(amount.digits))) return kept;
  return kept.map((each) => (each === same ? amount : each));
}

function minorUnits({ digits, exponent, quoted }: Amount, quantity: number) {
  return toMinorUnits(digits, exponent, quantity, quoted);
}
