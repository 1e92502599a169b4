/** An amount of money as decimal text, for readers that know neither ISO 4217 nor the market's quantity. */
import { currencyExponent } from './currencies.ts';
import { decimalText } from './decimal-text.ts';

export interface MoneyTexts {
  /** The exponent of the currency's minor unit. */
  readonly minorDigits: number;
  /** `amountMinor` ÷ 10^`minorDigits`, with exactly that many decimals. */
  readonly decimal: string | null;
  /** `decimal` ÷ quantity, exactly; null if its decimals do not end. */
  readonly decimalPerUnit: string | null;
}

/**
 * @param quantity the quantity that the amount buys; a positive safe integer
 * @throws RangeError for a currency that is not in ISO 4217, or has no minor unit
 */
export function moneyTexts(amountMinor: number | null, currency: string, quantity: number): MoneyTexts {
  const minorDigits = currencyExponent(currency);
  if (minorDigits === null) throw new RangeError(`not a currency with a minor unit: ${currency}`);
  if (amountMinor === null) return { minorDigits, decimal: null, decimalPerUnit: null };
  const decimal = decimalText(String(Math.abs(amountMinor)), minorDigits, amountMinor < 0);
  return { minorDigits, decimal, decimalPerUnit: perUnit(amountMinor, minorDigits, quantity) };
}

/** Splits a quantity into 2^twos × 5^fives × rest. The rest decides whether a quotient's decimals end. */
function factorsOf(quantity: number): { readonly twos: number; readonly fives: number; readonly rest: number } {
  let [twos, fives, rest] = [0, 0, quantity];
  for (; rest % 2 === 0; rest /= 2) twos++;
  for (; rest % 5 === 0; rest /= 5) fives++;
  return { twos, fives, rest };
}

function perUnit(amountMinor: number, minorDigits: number, quantity: number): string | null {
  const { twos, fives, rest } = factorsOf(quantity);
  if (amountMinor % rest !== 0) return null;
  const places = Math.max(twos, fives);
  const digits = String(Math.abs(amountMinor) / rest);
  const isPowerOfTen = twos === fives;
  const scaled = isPowerOfTen
    ? digits
    : String(BigInt(digits) * 2n ** BigInt(places - twos) * 5n ** BigInt(places - fives));
  const text = decimalText(scaled, minorDigits + places, amountMinor < 0);
  // At least as many decimals as the currency has; further ones only if they are not zero.
  const shortest = text.replace(/0+$/, '').length;
  return text.slice(0, Math.max(shortest, text.length - places)).replace(/\.$/, '');
}

/** The nearest number to a finite decimal, or else the quotient of two numbers. */
export function approximateMoney(
  decimal: string | null,
  decimalPerUnit: string | null,
  quantity: number,
): number | null {
  if (decimalPerUnit !== null) return Number(decimalPerUnit);
  return decimal === null ? null : Number(decimal) / quantity;
}
