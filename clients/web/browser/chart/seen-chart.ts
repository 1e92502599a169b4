/** The visible part of a chart, for the files and the citation that are made from it. Pure. */
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import type { RowOwner } from '../market/row-words.ts';
import type { TimeRange } from './asked-range.ts';
import type { ChartData, ChartSeries } from './chart-data.ts';

export interface SeenLines {
  readonly data: ChartData;
  /** Names of lines that are switched off. */
  readonly hidden: ReadonlySet<string>;
  readonly axisTexts: readonly string[];
  readonly range: TimeRange;
  /** Notes that a reader needs beside the lines. */
  readonly notes: readonly string[];
  /** The width of the picture, in CSS pixels. */
  readonly width: number;
}

export interface SeenChart extends SeenLines {
  readonly slug: string;
  /** For the name of a file: `price`. */
  readonly metric: string;
  /** Null: now. */
  readonly asOf: AsOf | null;
  /** When the page was read, in milliseconds since the epoch. */
  readonly readAtMs: number;
  /** The chosen row. It may be missing in the chart: replaced, or retracted. */
  readonly chosen: (RowOwner & { readonly row: PublicObservation }) | null;
  /** The row of the page's main value. Undefined: no value stands. */
  readonly newest: PublicObservation | undefined;
  readonly sourceOf: SourceOf;
  /** The address of the page as it was at a moment. @param point the id of a row */
  readonly addressAt: (asOf: AsOf, point: string | null) => string;
}

/** The lines that are not switched off, with their places in the chart. */
export function seenSeries({ data, hidden }: Pick<SeenLines, 'data' | 'hidden'>) {
  return data.series.flatMap((line, index) => (hidden.has(line.name) ? [] : [{ line, index }]));
}

/** A citation names the moment at which the values were read: later corrections do not change it. */
export function citedAsOf({ asOf, readAtMs }: Pick<SeenChart, 'asOf' | 'readAtMs'>): AsOf {
  return asOf ?? { atMs: Math.floor(readAtMs / 1000) * 1000, clock: 'recorded' };
}

/** The source of a market in its current state. Undefined: it has no source of this name. */
export type SourceOf = (slug: string, sourceLabel: string) => Partial<Market['sources'][number]> | undefined;

/** `Prices by the Exchange of Paris. Licence: CC-BY-4.0.` Empty: the source states neither. */
export function sourceTerms({ attribution = null, licence = null }: ReturnType<SourceOf> = {}): string {
  const sentences = [attribution, licence === null ? null : `Licence: ${licence}`].filter((text) => text !== null);
  return sentences.map(sentence).join(' ');
}

/** One text for each source of the lines. If there are several markets, with the names of the markets. */
export function creditTexts(lines: readonly ChartSeries[], sourceOf: SourceOf): readonly string[] {
  const marketsBy = new Map<string, Set<string>>();
  for (const { slug, marketName, rows } of lines) {
    const label = rows.find((row) => row !== undefined)?.sourceLabel;
    if (label === undefined) continue;
    const text = `${sentence(label)} ${sourceTerms(sourceOf(slug, label))}`.trimEnd();
    marketsBy.set(text, (marketsBy.get(text) ?? new Set()).add(marketName));
  }
  const areSeveral = new Set(lines.map(({ slug }) => slug)).size > 1;
  return [...marketsBy].map(([text, markets]) => `${areSeveral ? [...markets].join('; ') : 'Source'}: ${text}`);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
