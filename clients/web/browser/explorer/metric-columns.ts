/** Columns for markets without a price, such as language models on a list: one for each metric that most of them have. Pure. */
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { isEntryOnList, unitOfMetric } from '../../../../contract/bodies/latest-words.ts';
import { compareMetrics } from '../../../../contract/values/metric-words.ts';

/** The limit of columns that fit beside the name. */
const COLUMNS_MAX = 5;

export interface MetricColumn {
  readonly name: string;
  /**
   * `USD per 1M tokens`; null: the markets have different units, so each cell states its own, and the column cannot be
   * compared.
   */
  readonly unit: string | null;
}

/** Null: most of the markets have a price, or no value. */
export function metricColumns(entries: readonly LatestEntry[]): readonly MetricColumn[] | null {
  const onList = entries.filter(isEntryOnList);
  if (onList.length === 0 || onList.length * 2 < entries.length) return null;
  const counts = new Map<string, number>();
  const units = new Map<string, Set<string>>();
  for (const entry of onList) {
    for (const [name, metric] of Object.entries(entry.metrics)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      units.set(name, (units.get(name) ?? new Set()).add(unitOfMetric(entry, metric)));
    }
  }
  const isMoney = (name: string): boolean => [...(units.get(name) ?? [])].some((unit) => unit.includes(' per '));
  const names = [...counts].flatMap(([name, count]) => (count * 2 < onList.length ? [] : [name]));
  return names
    .sort((one, other) => Number(isMoney(other)) - Number(isMoney(one)) || compareMetrics(one, other))
    .slice(0, COLUMNS_MAX)
    .map((name) => {
      const [unit = '', ...others] = units.get(name) ?? [];
      return { name, unit: others.length === 0 ? unit : null };
    });
}
