/** The state of a market's page in its address. Pure. */
import type { AsOf } from '../../../typescript/as-of.ts';
import { isAhead, msOf } from '../../../typescript/moments.ts';
import { type AskedRange, readRange, writeRange } from '../chart/asked-range.ts';
import { type ChartScale, isChartScale } from '../chart/chart-scale.ts';
import { instantOfMs } from '../history/as-of-view.ts';
import { comparedSlugs } from '../history/compared-markets.ts';

/** Ids have fewer characters. */
const POINT_MAX = 60;

/** The state in the fragment of the address. */
export interface PageState {
  readonly asOf: AsOf | null;
  /** Null: `price`. */
  readonly metric: string | null;
  readonly scale: ChartScale;
  readonly range: AskedRange;
  /** The slugs of other markets in the chart. */
  readonly compare: readonly string[];
  /** The currency for converted newest prices. */
  readonly convert: string | null;
  /** The id of the chosen point. */
  readonly point: string | null;
  /** Why the page does not show the requested moment. Null: it does, or none was requested. */
  readonly refused: string | null;
  /** Why the chart does not show the requested dates. */
  readonly refusedRange: string | null;
}

/** Why nothing can be shown as of a moment; null: it can. @param text as the reader typed it */
export function refusalOf(text: string, nowMs: number): string | null {
  const atMs = msOf(text);
  if (Number.isNaN(atMs)) return `“${text.slice(0, 40)}” is not a moment that this page can read.`;
  return isAhead(atMs, nowMs) ? `${text} is in the future: nothing is known of it.` : null;
}

/**
 * An unreadable metric or clock is ignored. An unreadable moment is refused: current prices would look like those of the
 * moment.
 *
 * @param fragment with or without its `#`
 */
export function readFragment(fragment: string, nowMs: number): PageState {
  const words = new URLSearchParams(fragment.replace(/^#/, ''));
  const text = words.get('as-of');
  const refused = text === null ? null : refusalOf(text, nowMs);
  const atMs = text === null || refused !== null ? Number.NaN : msOf(text);
  const clock = words.get('clock') === 'released' ? 'released' : 'recorded';
  const metric = words.get('metric') ?? '';
  const scale = words.get('scale') ?? '';
  const point = words.get('point') ?? '';
  const convert = words.get('in') ?? '';
  const { range, refused: refusedRange } = readRange(words, nowMs);
  return {
    asOf: Number.isNaN(atMs) ? null : { atMs, clock },
    metric: /^[a-z][a-zA-Z0-9]{0,39}$/.test(metric) && metric !== 'price' ? metric : null,
    scale: isChartScale(scale) ? scale : 'linear',
    range,
    compare: comparedSlugs(words.get('compare') ?? ''),
    convert: /^[A-Z]{3}$/.test(convert) ? convert : null,
    point: point === '' ? null : point.slice(0, POINT_MAX),
    refused,
    refusedRange,
  };
}

/** Empty for the page as it is now. */
export function fragmentOf({
  asOf,
  metric,
  scale,
  range,
  compare,
  convert,
  point,
}: Omit<PageState, 'refused' | 'refusedRange'>): string {
  const words = new URLSearchParams();
  if (metric !== null) words.set('metric', metric);
  if (scale !== 'linear') words.set('scale', scale);
  writeRange(words, range);
  if (compare.length > 0) words.set('compare', compare.join(','));
  if (convert !== null) words.set('in', convert);
  if (point !== null) words.set('point', point);
  if (asOf !== null) {
    words.set('as-of', instantOfMs(asOf.atMs));
    words.set('clock', asOf.clock);
  }
  const text = words.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return text === '' ? '' : `#${text}`;
}
