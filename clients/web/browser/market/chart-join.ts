/** The lines of several markets on one time axis, with at most two value axes. Never blended. Pure. */
import { shownRange } from './asked-range.ts';
import { baseOf, type ChartData, type ChartSeries, firstAtOrAfter, isLeftOut, scaledChart } from './chart-data.ts';
import { axisText, type ChartScale } from './chart-scale.ts';
import type { ComparedHistory } from './compared-markets.ts';
import type { PageState } from './page-state.ts';
import type { ShownHistory } from './shown-history.ts';
import { dayText, many } from './words.ts';

export interface JoinedChart {
  readonly data: ChartData;
  /** What each axis measures. */
  readonly axisTexts: readonly string[];
  /** Why the chart has another scale than the one that was asked for, and what that scale cannot show. */
  readonly notes: readonly string[];
}

/** Of the page's own market alone, or with others: of each of them, the line of the source whose value it shows. */
export function joinedChart(
  main: ComparedHistory,
  others: readonly ComparedHistory[],
  { scale: asked, range }: Pick<PageState, 'scale' | 'range'>,
): JoinedChart {
  const units = [...new Set([main, ...others].map(({ shown }) => shown.unit))];
  const isTooMany = units.length > 2 && asked !== 'percent' && asked !== 'index';
  const scale: ChartScale = isTooMany ? 'percent' : asked;
  const areCompared = scale === 'percent' || scale === 'index';
  const axisOf = ({ unit }: ShownHistory): ChartSeries['axis'] => (areCompared || unit === units[0] ? 'y' : 'y2');
  const charts = [main, ...others].map((each) => ({ ...each, lines: linesOf(each, main === each) }));
  const data =
    others.length === 0
      ? main.shown.data
      : joined(
          main.shown.data,
          charts.flatMap(({ shown, market, lines }) =>
            lines.map((line) => ({
              seconds: shown.data.seconds,
              line: { ...line, axis: axisOf(shown), name: `${market.name}: ${line.name}` },
            })),
          ),
        );
  const from = firstShared(data, range);
  const scaled = scaledChart(data, scale, from);
  const notes = [
    ...(isTooMany
      ? [
          `These markets have ${units.length} units, and a chart has two axes: it shows changes in percent. “Index 100” compares them, too.`,
        ]
      : []),
    ...(scale === 'log' ? logNotes(scaled) : areCompared ? baseNotes(data, scaled, from) : []),
  ];
  const isEmpty = notes.length > 0 && scaled.series.every(({ values }) => values.every((value) => value == null));
  if (isEmpty && units.length < 3) return { ...joinedChart(main, others, { scale: 'linear', range }), notes };
  const since = dayText(new Date(from * 1000).toISOString());
  return {
    data: scaled,
    axisTexts: areCompared ? [axisText(scale, '', since)] : units.map((unit) => axisText(scale, unit, since)),
    notes,
  };
}

/** How many values a logarithmic axis cannot show. */
function logNotes({ series, title }: ChartData): readonly string[] {
  let count = 0;
  for (const line of series) for (const at of line.rows.keys()) if (isLeftOut(line, at)) count++;
  const values = many(count, title === 'Price' ? 'price' : 'value');
  return count === 0 ? [] : [`${values} of 0 or less cannot be shown on a log scale.`];
}

/** The lines that cannot be compared with their first values. */
function baseNotes(data: ChartData, { series }: ChartData, from: number): readonly string[] {
  return data.series.flatMap((line, index) => {
    const at = baseOf(data, line, from);
    const row = at === null ? undefined : line.rows[at];
    if (at === null || row === undefined || series[index]?.values[at] != null) return [];
    const base = line.words.value(row).replace(/^-/, '−');
    return [`${line.name} cannot be shown from a base of ${base} (${dayText(row.observedAt)}).`];
  });
}

function linesOf({ shown: { data, newest } }: ComparedHistory, isMain: boolean): readonly ChartSeries[] {
  if (isMain) return data.series;
  const own = data.series.find(({ rows }) => newest !== undefined && rows.includes(newest));
  return own === undefined ? data.series.slice(0, 1) : [own];
}

/** The first moment that is shown at which every line has begun, if there is one. In seconds. */
function firstShared({ seconds, series }: ChartData, range: PageState['range']): number {
  const begin = range === null ? (seconds[0] ?? 0) : shownRange(range, seconds).min;
  const begins = series.map(({ values }) => seconds[values.findIndex((value) => value != null)] ?? begin);
  const shared = series.some(({ slug }) => slug !== series[0]?.slug) ? Math.max(begin, ...begins) : begin;
  return seconds[firstAtOrAfter(seconds, shared)] ?? begin;
}

interface OwnLine {
  /** Of the values and rows of the line. */
  readonly seconds: readonly number[];
  readonly line: ChartSeries;
}

function joined(main: ChartData, lines: readonly OwnLine[]): ChartData {
  const all = new Set(lines.flatMap(({ seconds }) => seconds));
  const seconds = [...Float64Array.from(all).sort()];
  const placeOf = new Map(seconds.map((second, at) => [second, at]));
  const series = lines.map(({ seconds: own, line }) => {
    const places = own.map((second) => placeOf.get(second) as number);
    const moved = <Value>(of: readonly Value[]): (Value | undefined)[] => {
      const result = new Array<Value | undefined>(seconds.length).fill(undefined);
      for (const [at, place] of places.entries()) result[place] = of[at];
      return result;
    };
    const marked = line.marked.map((at) => places[at] as number);
    return { ...line, values: moved(line.values), rows: moved(line.rows), marked };
  });
  return { ...main, seconds, series };
}
