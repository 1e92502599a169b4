/** The metrics that the chart and the table may show. Pure. */
import type { Market } from '../../../../contract/values/market.ts';
import { compareMetrics, metricTitle } from '../../../../contract/values/metric-words.ts';
import { isOnList } from '../market/words.ts';

export interface OfferedMetrics {
  /** Those that are shown first. */
  readonly first: readonly string[];
  /** By name. Null stands for the first ones. */
  readonly titles: ReadonlyMap<string | null, string>;
}

/** @param read the metrics of the history, as far as it is read */
export function offeredMetrics({ metrics }: Pick<Market, 'metrics'>, read: Iterable<string>): OfferedMetrics {
  const names = new Set([...Object.keys(metrics), ...read]);
  names.delete('price');
  const others = [...names].sort(compareMetrics);
  const titled = (name: string) => [name, metricTitle(name)] as const;
  if (!isOnList(metrics)) return { first: ['price'], titles: new Map([[null, 'Price'], ...others.map(titled)]) };
  const amounts = others.filter((name) => metrics[name]?.kind === 'money');
  if (amounts.length > 0) return { first: amounts, titles: new Map([[null, 'All prices'], ...others.map(titled)]) };
  const [first = '', ...rest] = others;
  return { first: [first], titles: new Map([[null, metricTitle(first)], ...rest.map(titled)]) };
}
