/** Turns public bodies of markets into the rows of the table of markets. */
import type { ExportRow } from '../../../contract/bodies/export-tables.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicMetric } from '../../../contract/values/metric.ts';
import { approximateMoney, type MoneyTexts } from '../../../contract/values/money/money-texts.ts';

/** One row for each metric. The representative is left out: the name of a person must not be in an immutable file. */
export function marketRows(market: Market): readonly ExportRow[] {
  return Object.keys(market.metrics)
    .sort()
    .map((name) => marketRow(market, name, market.metrics[name] ?? null));
}

/** The columns in the order of the table. */
function marketRow(market: Market, name: string, metric: PublicMetric | null): ExportRow {
  const { unit, history } = market;
  return {
    market: market.slug,
    metric: name,
    marketName: market.name,
    marketKind: market.kind,
    marketStatus: market.status,
    nativeCurrency: market.nativeCurrency,
    unitOf: unit.of,
    unitQuantity: unit.quantity,
    observations: history.count,
    firstObservedAt: history.firstObservedAt,
    lastObservedAt: history.lastObservedAt,
    updatedAt: market.updatedAt,
    revision: market.revision,
    disputed: market.disputedMetrics.includes(name),
    observedAt: metric?.observedAt ?? null,
    ...valueCells(metric, unit.quantity),
    status: metric?.status ?? null,
    confidence: metric?.confidence ?? null,
    rounded: metric?.rounded ?? null,
    sourceValue: metric?.sourceValue ?? null,
    unknownReason: metric?.unknownReason ?? null,
    sourceLabel: metric?.sourceLabel ?? null,
    sourceUrl: metric?.sourceUrl ?? null,
    releasedAt: metric?.releasedAt ?? null,
  };
}

type Value =
  | Pick<PublicMetric & { kind: 'money' }, 'kind' | keyof MoneyTexts | 'amountMinor' | 'currency'>
  | Pick<PublicMetric & { kind: 'scalar' }, 'kind' | 'value' | 'unit'>;

/** The columns of a value, in the order of both tables. @param quantity the quantity that one price buys. Null: unknown */
export function valueCells(shown: Value | null, quantity: number | null) {
  const money = shown?.kind === 'money' ? shown : null;
  const scalar = shown?.kind === 'scalar' ? shown : null;
  const value = scalar?.value ?? null;
  const decimalPerUnit = quantity === null ? null : (money?.decimalPerUnit ?? null);
  const ofMoney = money && quantity !== null ? approximateMoney(money.decimal, decimalPerUnit, quantity) : null;
  return {
    kind: shown?.kind ?? null,
    amountMinor: money?.amountMinor ?? null,
    currency: money?.currency ?? null,
    minorDigits: money?.minorDigits ?? null,
    decimal: money?.decimal ?? null,
    decimalPerUnit,
    value,
    unit: scalar?.unit ?? null,
    approximateValue: value === null ? ofMoney : Number(value),
  };
}
