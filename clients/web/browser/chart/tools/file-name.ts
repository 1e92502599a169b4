/** Names of files that say what is in them. Pure. */

import { instantOfMs } from '../../history/as-of-view.ts';
import type { SeenChart } from '../seen-chart.ts';
import { seenDays } from './chart-frame.ts';

/** `gold-usd-price-2024-02-12-to-2026-09-29`; with the moment, if it is an earlier one. */
export function seenName(seen: Pick<SeenChart, 'slug' | 'metric' | 'asOf' | 'data' | 'range'>): string {
  const { from, to } = seenDays(seen);
  const moment = seen.asOf === null ? [] : ['as-of', instantOfMs(seen.asOf.atMs).replaceAll(/[:.]/g, '')];
  const others = new Set(seen.data.series.map(({ slug }) => slug)).size - 1;
  const more = others > 0 ? ['and', others, 'more'] : [];
  return [seen.slug, ...more, seen.metric, from, 'to', to, ...moment].join('-');
}
