/** Prices as people read them, exactly. Pure. */
import type { RecentEntry } from '../../../contract/files/recent-prices.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicMetric } from '../../../contract/values/metric.ts';
import { leadMetric, metricTitle, unknownWords } from '../../../contract/values/metric-words.ts';
import { moneyTexts } from '../../../contract/values/money-texts.ts';

/** What a price may be for, if the market quotes a multiple of it: the smallest one that leaves a price of a cent or more. */
const QUANTITIES = [1, 1_000, 1_000_000];
const READABLE = 0.01;

export interface ReadablePrice {
  /** `4,129.10 USD` */
  readonly amount: string;
  /** `per troy ounce`, `per 1,000,000 tokens`; empty for a metric that is no money. */
  readonly per: string;
}

/** The newest value of a market, where one is shown. */
export interface ReadableValue {
  /** The name of the market; with that of the metric unless it is the price. */
  readonly title: string;
  /** Null: nothing was observed. */
  readonly metric: PublicMetric | null;
  /** Null: it is unknown. */
  readonly price: ReadablePrice | null;
  /** Why it is unknown, if it is. */
  readonly unknown: string;
}

export function readableValue({ name, metrics, unit }: Pick<Market, 'name' | 'metrics' | 'unit'>): ReadableValue {
  const [metricName, metric] = leadMetric(metrics, ({ kind }) => kind === 'money') ?? ['price', null];
  return {
    title: metricName === 'price' ? name : `${name}, ${metricTitle(metricName).toLowerCase()}`,
    metric,
    price: metric === null ? null : readablePrice(metric, unit),
    unknown: metric === null ? 'no price recorded' : unknownWords(metric.unknownReason),
  };
}

/** Null: the value is unknown. */
export function readablePrice(metric: PublicMetric, unit: Market['unit']): ReadablePrice | null {
  if (metric.kind === 'scalar')
    return metric.value === null ? null : { amount: `${grouped(metric.value)} ${metric.unit}`, per: '' };
  return metric.amountMinor === null ? null : readableMoney(metric.amountMinor, metric.currency, unit);
}

function readableMoney(amountMinor: number, currency: string, unit: Market['unit']): ReadablePrice {
  const { decimal, quantity } = smallestReadable(amountMinor, currency, unit.quantity);
  const per = quantity === 1 ? `per ${unit.of}` : `per ${grouped(String(quantity))} ${several(unit.of)}`;
  return { amount: `${grouped(decimal)} ${currency}`, per };
}

/** @param decimal for the quantity of the market, in major units with all decimals of its currency */
export function readableDecimal(decimal: string, currency: string, unit: Market['unit']): ReadablePrice {
  return readableMoney(Number(decimal.replace('.', '')), currency, unit);
}

function smallestReadable(amountMinor: number, currency: string, quoted: number) {
  for (const quantity of QUANTITIES) {
    if (quoted % quantity !== 0) continue;
    const decimal = moneyTexts(amountMinor, currency, quoted / quantity).decimalPerUnit;
    if (decimal !== null && (amountMinor === 0 || Math.abs(Number(decimal)) >= READABLE)) return { decimal, quantity };
  }
  return { decimal: moneyTexts(amountMinor, currency, 1).decimal as string, quantity: quoted };
}

/** `4129.1045` is `4,129.1045`. */
function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const text = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? text : `${text}.${fraction}`;
}

/** The plural of an English word. Symbols, such as `EUR` and `kWh`, have none. */
function several(of: string): string {
  return /(^| )[a-z]{3,}[a-rt-z]$/.test(of) ? `${of}s` : of;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `29 Sep 2026`, with the time of the day (UTC) unless it is midnight. */
export function readableMoment(instant: string): string {
  const [year, month, day] = instant.slice(0, 10).split('-').map(Number);
  const date = `${day} ${MONTHS[(month as number) - 1]} ${year}`;
  const time = instant.slice(11, 16);
  return time === '00:00' ? date : `${date}, ${time} UTC`;
}

/** `+1.25 % since 28 Sep 2026`: the newest of these prices, and the known one before it. Null: one of them is unknown, or zero. */
export function readableChange({ decimal, observedAt }: Pick<RecentEntry, 'decimal' | 'observedAt'>): string | null {
  const newest = decimal.at(-1) ?? null;
  const place = decimal.slice(0, -1).findLastIndex((text) => text !== null);
  const before = Number(decimal[place] ?? 0);
  if (newest === null || before === 0) return null;
  const percent = (((Number(newest) - before) / Math.abs(before)) * 100).toFixed(2);
  const sign = Number(percent) > 0 ? '+' : '';
  return `${sign}${percent.replace('-', '−')} % since ${readableMoment(observedAt[place] as string)}`;
}
