/** The first known value that a file gives, in words, so that a person notices a price that is a hundred times too large. */
import { marketRecordSchema, observationRecordSchema } from '../../contract/ingest/ingest-records.ts';
import { shortMomentText } from '../../contract/values/instants.ts';
import type { Unit } from '../../contract/values/market.ts';
import { currencyExponent } from '../../contract/values/money/currencies.ts';
import { decimalText, groupedDigits } from '../../contract/values/money/decimal-text.ts';
import { plainDecimal } from '../../contract/values/money/money.ts';
import { quantityText, scalarUnit, shownQuantity } from '../../contract/values/shown-value.ts';

/** The largest number of records that are examined, because a file of observations alone defines no market. */
const RECORDS_MAX = 10_000;
/** The number of lines whose value is kept, because the service may refuse the first ones. */
const LINES_MAX = 100;

/** Takes the records of a file in their order, until it has enough known values whose markets were defined before them. */
export class FirstValue {
  readonly #units = new Map<string, Unit>();
  /** By line: the service may still refuse it. */
  readonly #texts = new Map<number, string>();
  #records = 0;
  #lines = 0;

  /** `model-1 0.10 USD per token, 1 Oct 2026`. Null: no such value so far. */
  get text(): string | null {
    const [first = null] = this.#texts.values();
    return first;
  }

  /** Whether further records may give it. */
  get isOpen(): boolean {
    return this.#lines < LINES_MAX && this.#records < RECORDS_MAX;
  }

  /** The value of a refused line is not the first one. */
  refuse(line: number): void {
    this.#texts.delete(line);
  }

  add(record: unknown, line: number): void {
    if (!this.isOpen) return;
    this.#records += 1;
    const market = marketRecordSchema.safeParse(record);
    if (market.success) {
      this.#units.set(market.data.slug, market.data.unit);
      return;
    }
    const { data } = observationRecordSchema.safeParse(record);
    const unit = data && this.#units.get(data.market);
    if (data === undefined || unit === undefined) return;
    const value = valueText(data, unit);
    if (value === null || this.#texts.has(line)) return;
    const metric = data.metric === 'price' ? '' : ` ${data.metric}`;
    this.#texts.set(line, `${data.market}${metric} ${value}, ${shortMomentText(data.observedAt)}`);
    this.#lines += 1;
  }
}

function valueText(data: ReturnType<typeof observationRecordSchema.parse>, unit: Unit): string | null {
  const amount = 'amountMinor' in data ? data.amountMinor : data.value;
  if (amount === null) return null;
  if ('unit' in data) return `${groupedDigits(String(amount))} ${scalarUnit(data.unit, String(amount), unit.of)}`;
  const { currency, quotedQuantity } = data;
  const places = currencyExponent(currency) ?? 0;
  const isMinor = 'amountMinor' in data;
  const digits = isMinor
    ? decimalText(String(Math.abs(Number(amount))), places, Number(amount) < 0)
    : plainDecimal(String(amount));
  const bought = isMinor ? unit.quantity : (quotedQuantity ?? unit.quantity);
  const quantities = new Set([1, quotedQuantity ?? bought, shownQuantity(unit.quantity)]);
  const amounts = [...quantities].flatMap((quantity) => {
    const text = amountFor(digits, quantity, bought, places);
    return text === null ? [] : [`${groupedDigits(text)} ${currency} ${quantityText({ quantity, of: unit.of })}`];
  });
  const ofBought = () => `${groupedDigits(digits)} ${currency} ${quantityText({ quantity: bought, of: unit.of })}`;
  return amounts.length === 0 ? ofBought() : amounts.join(' = ');
}

/** More decimals than any quotient by a power of two or five up to 10^15 needs. */
const PLACES = 50;

/** The exact price of `quantity`, if `digits` is that of `bought`. Null: its decimals do not end. */
function amountFor(digits: string, quantity: number, bought: number, minorDigits: number): string | null {
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  const dividend = BigInt(whole + fraction) * BigInt(quantity) * 10n ** BigInt(PLACES);
  if (dividend % BigInt(bought) !== 0n) return null;
  const text = decimalText(String(dividend / BigInt(bought)), PLACES + fraction.length, digits.startsWith('-'));
  const [before = '', after = ''] = text.split('.');
  const decimals = after.replace(/0+$/, '').padEnd(minorDigits, '0');
  return decimals === '' ? before : `${before}.${decimals}`;
}
