/** The layer over the lines of a chart: marks of corrections and gaps, lone points, the last value, the chosen point. */
import type uPlot from 'uplot';
import type { PointMark } from '../market/row-words.ts';
import type { ChartColours } from './chart-colours.ts';
import { lookOfSeries } from './chart-colours.ts';
import { type ChartData, type ChartPlace, type ChartSeries, isLeftOut, labelOf, lastStanding } from './chart-data.ts';
import { seenSeries } from './seen-chart.ts';

/** Where the marks of values without a number stand: above the time axis. In CSS pixels. */
const FLOOR = 10;
/** With more points on the screen than one for this many pixels, single points are not drawn. */
const POINT_SPACE = 12;
const LABEL_HEIGHT = 17;

const CIRCLE = 'M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z';

/** A form over the lines, on the screen and in files. Lengths are in CSS pixels, places are from the corner of the plot. */
export interface Shape {
  /** An SVG path about its place, of the size 1. */
  readonly path: string;
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly fill: string | null;
  readonly line: {
    readonly colour: string;
    readonly width: number;
    readonly dash: readonly number[];
    readonly opacity: number;
  } | null;
}

export interface MarksState {
  readonly data: ChartData;
  readonly colours: ChartColours;
  readonly hidden: ReadonlySet<string>;
  readonly chosen: ChartPlace | null;
  readonly isDisputed: boolean;
}

/** A place on the canvas, in its own pixels. */
export function pointOf(
  plot: uPlot,
  data: ChartData,
  { at, series }: ChartPlace,
): { readonly x: number; readonly y: number } {
  const value = data.series[series]?.values[at] ?? null;
  const x = plot.valToPos(data.seconds[at] as number, 'x', true);
  const floor = plot.bbox.top + plot.bbox.height - FLOOR * devicePixelRatio;
  return { x, y: value === null ? floor : plot.valToPos(value, scaleOf(plot, series), true) };
}

const scaleOf = (plot: uPlot, series: number): string => plot.series[series + 1]?.scale ?? 'y';

export function drawMarks(plot: uPlot, state: MarksState): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const shape of shapesOf(plot, state)) drawShape(plot, shape);
  for (const shape of shapesOfChosen(plot, state)) drawShape(plot, shape);
  ctx.restore();
  ctx.save();
  ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  for (const { box, digits, x, y } of labelsOf(plot, state)) {
    drawShape(plot, box);
    ctx.fillStyle = state.colours.surface;
    ctx.fillText(digits, bbox.left + x * scale, bbox.top + y * scale);
  }
  ctx.restore();
}

function drawShape({ ctx, bbox }: uPlot, { path, x, y, size, fill, line }: Shape): void {
  const scale = devicePixelRatio;
  const form = new Path2D();
  const place = { e: bbox.left + x * scale, f: bbox.top + y * scale };
  form.addPath(new Path2D(path), { a: size * scale, d: size * scale, ...place });
  if (fill !== null) {
    ctx.fillStyle = fill;
    ctx.fill(form);
  }
  if (line === null) return;
  ctx.globalAlpha = line.opacity;
  ctx.strokeStyle = line.colour;
  ctx.lineWidth = line.width * scale;
  ctx.setLineDash(line.dash.map((length) => length * scale));
  ctx.stroke(form);
  ctx.globalAlpha = 1;
}

/** As {@link pointOf}, in CSS pixels from the corner of the plot. */
function placeOf(plot: uPlot, data: ChartData, place: ChartPlace): { readonly x: number; readonly y: number } {
  const { x, y } = pointOf(plot, data, place);
  return { x: (x - plot.bbox.left) / devicePixelRatio, y: (y - plot.bbox.top) / devicePixelRatio };
}

/** The newest value of each series, with a thin line across the chart; then the marks. */
export function* shapesOf(
  plot: uPlot,
  { data, hidden, isDisputed, colours }: Omit<MarksState, 'chosen'>,
): Generator<Shape> {
  const [from, to] = (plot.series[0]?.idxs as [number, number] | undefined) ?? [0, -1];
  const areAll = (to - from + 1) * POINT_SPACE * devicePixelRatio < plot.bbox.width;
  const series = seenSeries({ data, hidden }).map(({ line, index }) => {
    const colour = colours.series[lookOfSeries(index).colour] as string;
    return { line, index, colour, last: lastStanding(data, index, data.seconds.length) };
  });
  for (const { line, colour, last } of series) {
    if (last === null || line.values[last.at] == null) continue;
    const { x, y } = placeOf(plot, data, last);
    // In the middle of a pixel, so that it is sharp.
    const middle = (Math.round(y * devicePixelRatio) + 0.5) / devicePixelRatio;
    const across = { path: `M0 0H${plot.bbox.width / devicePixelRatio}`, x: 0, y: middle, size: 1, fill: null };
    yield { ...across, line: { colour, width: 1, dash: [1, 3], opacity: 0.55 } };
    yield { path: CIRCLE, x, y, size: 3.5, fill: colour, line: null };
  }
  const markOf = (form: keyof typeof MARK_FORMS, size: number, x: number, y: number): Shape => {
    const { path, stroke, fill } = MARK_FORMS[form];
    const line = { colour: colours[stroke], width: 1.5, dash: [], opacity: 1 };
    return { path, x, y, size, fill: fill && colours[fill], line };
  };
  for (const { line, index, colour, last } of series) {
    // Of few points each one; of many, those of which something is to be said.
    for (const at of areAll ? line.rows.keys() : line.marked) {
      const row = line.rows[at];
      if (row === undefined || at < from || at > to || isLeftOut(line, at)) continue;
      const form = line.words.mark(row);
      const { x, y } = placeOf(plot, data, { at, series: index });
      yield form === null ? { path: CIRCLE, x, y, size: 2.5, fill: colour, line: null } : markOf(form, 5, x, y);
    }
    if (!isDisputed || last === null || isLeftOut(line, last.at)) continue;
    const { x, y } = placeOf(plot, data, last);
    yield markOf('disputed', 6, x, y - (line.values[last.at] == null ? 0 : 12));
  }
}

function* shapesOfChosen(plot: uPlot, { data, chosen, colours: { ink } }: MarksState): Generator<Shape> {
  if (chosen === null) return;
  const { x, y } = placeOf(plot, data, chosen);
  const down = { path: `M0 0V${plot.bbox.height / devicePixelRatio}`, x, y: 0, size: 1, fill: null };
  yield { ...down, line: { colour: ink, width: 1, dash: [4, 3], opacity: 1 } };
  if (isLeftOut(data.series[chosen.series] as ChartSeries, chosen.at)) return;
  yield { path: CIRCLE, x, y, size: 7, fill: null, line: { colour: ink, width: 2, dash: [], opacity: 1 } };
}

/**
 * The digits of each series' newest value, in boxes in the margin on the right, without overlaps. None where the right side has
 * an axis.
 */
export function labelsOf(plot: uPlot, { data, hidden, colours }: Pick<MarksState, 'data' | 'hidden' | 'colours'>) {
  if (data.series.some(({ axis }) => axis === 'y2')) return [];
  const [width, height] = [plot.bbox.width / devicePixelRatio, plot.bbox.height / devicePixelRatio];
  const labels = seenSeries({ data, hidden }).flatMap(({ index }) => {
    const place = lastStanding(data, index, data.seconds.length);
    const digits = place === null ? null : labelOf(data, place);
    if (place === null || digits === null) return [];
    const { y } = placeOf(plot, data, place);
    return y < 0 || y > height ? [] : [{ digits, index, y }];
  });
  let free = 0;
  return labels
    .sort((one, other) => one.y - other.y)
    .map(({ digits, index, y }) => {
      const top = Math.max(free, y - LABEL_HEIGHT / 2);
      free = top + LABEL_HEIGHT + 1;
      const path = `M0 0h${7 * digits.length + 8}v${LABEL_HEIGHT}H0Z`;
      const fill = colours.series[lookOfSeries(index).colour] as string;
      const box: Shape = { path, x: width + 3, y: top, size: 1, fill, line: null };
      return { box, digits, x: box.x + 4, y: top + LABEL_HEIGHT / 2 };
    });
}

/** The width of the margin that {@link labelsOf} needs, in CSS pixels. */
export function labelMargin(data: ChartData): number {
  const lengths = data.series.map((_, index) => {
    const place = lastStanding(data, index, data.seconds.length);
    return place === null ? 0 : (labelOf(data, place) ?? '').length;
  });
  return 14 + 7 * Math.max(0, ...lengths);
}

const DIAMOND = 'M0-1.2L1.2 0L0 1.2L-1.2 0Z';
/** Outlines about the middle, of the size 1, and the names of their colours. */
const MARK_FORMS = {
  corrected: { path: DIAMOND, stroke: 'ink', fill: 'surface' },
  announced: { path: DIAMOND, stroke: 'ink', fill: 'ink' },
  retracted: { path: 'M-.8-.8L.8.8M.8-.8L-.8.8', stroke: 'alarm', fill: null },
  unknown: { path: 'M.8 0A.8.8 0 1 1-.8 0A.8.8 0 1 1 .8 0Z', stroke: 'notice', fill: 'surface' },
  disputed: { path: 'M0-1L1 .8L-1 .8ZM0-.35L0 .45', stroke: 'alarm', fill: 'surface' },
} as const satisfies Record<NonNullable<PointMark> | 'disputed', object>;
