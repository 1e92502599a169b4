/** The part of a chart that a reader sees, for the files and the citation that are made of it. Pure. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import type { AsOf } from '../../../typescript/as-of.ts';
import type { RowOwner } from '../market/row-words.ts';
import type { ChartData } from './chart-data.ts';
import type { TermsOf } from './credits.ts';
import type { TimeRange } from './time-range.ts';

export interface SeenLines {
  readonly data: ChartData;
  /** Names of lines that are switched off. */
  readonly hidden: ReadonlySet<string>;
  readonly axisTexts: readonly string[];
  readonly range: TimeRange;
  /** What a reader must know of the lines. */
  readonly notes: readonly string[];
  /** Of the picture, in CSS pixels. */
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
  /** It may be one that the chart does not have: replaced, or retracted. */
  readonly chosen: (RowOwner & { readonly row: PublicObservation }) | null;
  /** The row of the value that the page shows first. Undefined: no value stands. */
  readonly newest: PublicObservation | undefined;
  readonly termsOf: TermsOf;
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
