/** Turns public bodies of markets into the rows of the table of markets. */
import type { ExportRow } from '../../../contract/bodies/export-tables.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicMetric } from '../../../contract/values/metric.ts';
import { approximateMoney } from '../../../contract/values/money/money-texts.ts';

/** One row for each metric. The representative is left out: the name of a person must not be in an immutable file. */
export function marketRows(market: Market): readonly ExportRow[] {
  return Object.keys(market.metrics)
    .sort()
    .map((name) => marketRow(market, name, market.metrics[name] ?? null));
}

/** The columns in the order of the table. */
function marketRow(market: Market, name: string, metric: PublicMetric | null): ExportRow {
  const { unit, history } = market;
  const money = metric?.kind === 'money' ? metric : null;
  const scalar = metric?.kind === 'scalar' ? metric : null;
  const value = scalar?.value ?? null;
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
    kind: metric?.kind ?? null,
    amountMinor: money?.amountMinor ?? null,
    currency: money?.currency ?? null,
    minorDigits: money?.minorDigits ?? null,
    decimal: money?.decimal ?? null,
    decimalPerUnit: money?.decimalPerUnit ?? null,
    value,
    unit: scalar?.unit ?? null,
    approximateValue:
      money === null
        ? value === null
          ? null
          : Number(value)
        : approximateMoney(money.decimal, money.decimalPerUnit, unit.quantity),
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
