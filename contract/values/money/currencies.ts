/** Currency codes, their validity, and the number of decimals of their minor unit (ISO 4217). */
import { ACTIVE_BY_EXPONENT, MINOR_UNIT_ALIASES, NOT_MONEY, WITHDRAWN } from './iso-4217.ts';

interface Currency {
  readonly exponent: number;
  /** Last day of validity, `YYYY-MM-DD`, or null while the code is active. */
  readonly lastDay: string | null;
}

/** Marked as pure, so that a bundle that converts nothing leaves the tables out. */
const CURRENCIES: ReadonlyMap<string, Currency> = /* @__PURE__ */ readTables();

export type CurrencyFaultCode = 'currency.unknown' | 'currency.retired' | 'currency.minor-unit-alias';

/** The reason why a code is refused, and the remedy. */
export interface CurrencyFault {
  readonly code: CurrencyFaultCode;
  readonly detail: string;
}

/**
 * The exponent of a currency's minor unit: JPY 0, USD 2, KWD 3. Withdrawn codes keep theirs, because history needs it.
 * Null for a code that is not in ISO 4217, for a code without a minor unit, and for any other spelling.
 */
export function currencyExponent(code: string): number | null {
  return CURRENCIES.get(code)?.exponent ?? null;
}

/** Whether ISO 4217 has the code: for a currency, or for a metal or a fund without a minor unit, such as `XAU`. */
export function isIso4217(code: string): boolean {
  return CURRENCIES.has(code) || Object.hasOwn(NOT_MONEY, code);
}

/** Null if amounts can have this code, today or in the past. */
export function checkCurrencyCode(code: string): CurrencyFault | null {
  if (CURRENCIES.has(code)) return null;
  const currency = Object.hasOwn(MINOR_UNIT_ALIASES, code) ? MINOR_UNIT_ALIASES[code] : undefined;
  if (currency !== undefined) {
    const detail = `${code} stands for minor units of ${currency} and is not an ISO 4217 code: send currency ${currency}, and the number as quoted in ${code} as amountMinor`;
    return { code: 'currency.minor-unit-alias', detail };
  }
  return { code: 'currency.unknown', detail: `${JSON.stringify(code)} ${whyUnknown(code)}` };
}

/**
 * Null if the code was a valid currency at an instant (RFC 3339 with `Z`); the UTC date counts. The first day of
 * validity is not checked: statistics restate old prices in new money, and say so.
 */
export function checkCurrency(code: string, atIsoInstant: string): CurrencyFault | null {
  const lastDay = CURRENCIES.get(code)?.lastDay;
  if (lastDay === undefined) return checkCurrencyCode(code);
  const day = atIsoInstant.slice(0, 10);
  if (lastDay === null || day <= lastDay) return null;
  const detail = `${code} was valid until ${lastDay} and this is of ${day}: ask the source which currency it means`;
  return { code: 'currency.retired', detail };
}

function whyUnknown(code: string): string {
  const upper = code.toUpperCase();
  if (upper !== code && CURRENCIES.has(upper)) return `is not how ISO 4217 spells it: write ${upper}`;
  if (!Object.hasOwn(NOT_MONEY, code)) {
    return 'is not a currency of ISO 4217: quote in one that is, and name the quoted thing in the market’s unit';
  }
  return `is ${NOT_MONEY[code]} and has no minor unit: quote in a currency, and name the quoted thing in the market’s unit`;
}

function readTables(): Map<string, Currency> {
  const currencies = new Map<string, Currency>();
  for (const [exponent, codes] of ACTIVE_BY_EXPONENT) {
    for (const code of codes.split(' ')) currencies.set(code, { exponent, lastDay: null });
  }
  for (const line of WITHDRAWN.split('\n')) {
    const [code, exponent, lastDay] = line.split(' ') as [string, string, string];
    currencies.set(code, { exponent: Number(exponent), lastDay });
  }
  return currencies;
}
