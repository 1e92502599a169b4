/** The layer over the lines of a chart: marks of corrections and gaps, lone points, the last value, the chosen point. */
import type uPlot from 'uplot';
import type { PointMark } from '../market/row-words.ts';
import type { ChartColours } from './chart-colours.ts';
import { lookOfSeries } from './chart-colours.ts';
import { type ChartData, type ChartPlace, type ChartSeries, isLeftOut, labelOf, lastStanding } from './chart-data.ts';

/** Where the marks of values without a number stand: above the time axis. In CSS pixels. */
const FLOOR = 10;
/** With more points on the screen than one for this many pixels, single points are not drawn. */
const POINT_SPACE = 12;
export const LABEL_HEIGHT = 17;

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
  const { data, colours, hidden, chosen } = state;
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * scale;
  for (const [index, { name }] of data.series.entries()) if (!hidden.has(name)) drawLast(plot, state, index);
  for (const { form, size, x, y, index } of markedPlaces(plot, state)) {
    if (form === null) dot(ctx, x, y, size * scale, colours.series[lookOfSeries(index).colour] as string);
    else drawMark(ctx, MARK_FORMS[form], { x, y, size: size * scale, colours });
  }
  if (chosen !== null) drawChosen(plot, chosen, colours, data);
  ctx.restore();
  drawLabels(plot, { data, colours, hidden });
}

export interface MarkedPlace {
  /** Null: a plain point. */
  readonly form: keyof typeof MARK_FORMS | null;
  /** From its middle, in CSS pixels. */
  readonly size: number;
  /** On the canvas, in its own pixels. */
  readonly x: number;
  readonly y: number;
  /** Of the series. */
  readonly index: number;
}

/** Of few points each one; of many, those of which something is to be said. */
export function* markedPlaces(
  plot: uPlot,
  { data, hidden, isDisputed }: Pick<MarksState, 'data' | 'hidden' | 'isDisputed'>,
): Generator<MarkedPlace> {
  const [from, to] = (plot.series[0]?.idxs as [number, number] | undefined) ?? [0, -1];
  const areAll = (to - from + 1) * POINT_SPACE * devicePixelRatio < plot.bbox.width;
  for (const [index, line] of data.series.entries()) {
    if (hidden.has(line.name)) continue;
    for (const at of areAll ? line.rows.keys() : line.marked) {
      const row = line.rows[at];
      if (row === undefined || at < from || at > to || isLeftOut(line, at)) continue;
      const form = line.words.mark(row);
      yield { form, size: form === null ? 2.5 : 5, index, ...pointOf(plot, data, { at, series: index }) };
    }
    const last = isDisputed ? lastStanding(data, index, data.seconds.length) : null;
    if (last === null || isLeftOut(line, last.at)) continue;
    const { x, y } = pointOf(plot, data, last);
    const above = line.values[last.at] == null ? 0 : 12 * devicePixelRatio;
    yield { form: 'disputed', size: 6, index, x, y: y - above };
  }
}

/**
 * The digits of each series' newest value, in the margin on the right, without overlaps. `top` is on the canvas, in its own
 * pixels. None where the right side has an axis.
 */
export function labelPlaces(plot: uPlot, { data, hidden }: Pick<MarksState, 'data' | 'hidden'>) {
  if (data.series.some(({ axis }) => axis === 'y2')) return [];
  const { bbox } = plot;
  const height = LABEL_HEIGHT * devicePixelRatio;
  const labels = data.series.flatMap(({ name }, index) => {
    const place = hidden.has(name) ? null : lastStanding(data, index, data.seconds.length);
    const digits = place === null ? null : labelOf(data, place);
    if (place === null || digits === null) return [];
    const { y } = pointOf(plot, data, place);
    return y < bbox.top || y > bbox.top + bbox.height ? [] : [{ digits, index, y }];
  });
  let free = bbox.top;
  return labels
    .sort((one, other) => one.y - other.y)
    .map(({ digits, index, y }) => {
      const top = Math.max(free, y - height / 2);
      free = top + height + devicePixelRatio;
      return { digits, index, top };
    });
}

function drawLabels(plot: uPlot, state: Pick<MarksState, 'data' | 'colours' | 'hidden'>): void {
  const { ctx, bbox } = plot;
  const { colours } = state;
  const scale = devicePixelRatio;
  const height = LABEL_HEIGHT * scale;
  ctx.save();
  ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  for (const { digits, index, top } of labelPlaces(plot, state)) {
    const left = bbox.left + bbox.width + 3 * scale;
    ctx.fillStyle = colours.series[lookOfSeries(index).colour] as string;
    ctx.fillRect(left, top, ctx.measureText(digits).width + 8 * scale, height);
    ctx.fillStyle = colours.surface;
    ctx.fillText(digits, left + 4 * scale, top + height / 2);
  }
  ctx.restore();
}

/** The width of the margin that {@link drawLabels} needs, in CSS pixels. */
export function labelMargin(data: ChartData): number {
  const lengths = data.series.map((_, index) => {
    const place = lastStanding(data, index, data.seconds.length);
    return place === null ? 0 : (labelOf(data, place) ?? '').length;
  });
  return 14 + 7 * Math.max(0, ...lengths);
}

const DIAMOND = 'M0-1.2L1.2 0L0 1.2L-1.2 0Z';
/** Outlines about the middle, of the size 1, and the names of their colours. */
export const MARK_FORMS = {
  corrected: { path: DIAMOND, stroke: 'ink', fill: 'surface' },
  announced: { path: DIAMOND, stroke: 'ink', fill: 'ink' },
  retracted: { path: 'M-.8-.8L.8.8M.8-.8L-.8.8', stroke: 'alarm', fill: null },
  unknown: { path: 'M.8 0A.8.8 0 1 1-.8 0A.8.8 0 1 1 .8 0Z', stroke: 'notice', fill: 'surface' },
  disputed: { path: 'M0-1L1 .8L-1 .8ZM0-.35L0 .45', stroke: 'alarm', fill: 'surface' },
} as const satisfies Record<NonNullable<PointMark> | 'disputed', object>;

function drawMark(
  ctx: CanvasRenderingContext2D,
  { path, stroke, fill }: (typeof MARK_FORMS)[keyof typeof MARK_FORMS],
  { x, y, size, colours }: Pick<MarkedPlace, 'x' | 'y' | 'size'> & Pick<MarksState, 'colours'>,
): void {
  const form = new Path2D();
  form.addPath(new Path2D(path), { a: size, d: size, e: x, f: y });
  ctx.setLineDash([]);
  if (fill !== null) {
    ctx.fillStyle = colours[fill];
    ctx.fill(form);
  }
  ctx.strokeStyle = colours[stroke];
  ctx.stroke(form);
}

/** A thin line at the newest value of a series, across the whole chart. */
function drawLast(plot: uPlot, { data, colours }: Pick<MarksState, 'data' | 'colours'>, index: number): void {
  const place = lastStanding(data, index, data.seconds.length);
  if (place === null || data.series[index]?.values[place.at] == null) return;
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const { x, y } = pointOf(plot, data, place);
  const colour = colours.series[lookOfSeries(index).colour] as string;
  ctx.save();
  ctx.globalAlpha = 0.55;
  ctx.lineWidth = scale;
  ctx.strokeStyle = colour;
  ctx.setLineDash([scale, 3 * scale]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, Math.round(y) + 0.5);
  ctx.lineTo(bbox.left + bbox.width, Math.round(y) + 0.5);
  ctx.stroke();
  ctx.restore();
  dot(ctx, x, y, 3.5 * scale, colour);
}

function drawChosen(plot: uPlot, chosen: ChartPlace, colours: ChartColours, data: ChartData): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const { x, y } = pointOf(plot, data, chosen);
  ctx.strokeStyle = colours.ink;
  ctx.lineWidth = scale;
  ctx.setLineDash([4 * scale, 3 * scale]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  if (isLeftOut(data.series[chosen.series] as ChartSeries, chosen.at)) return;
  ctx.lineWidth = 2 * scale;
  ctx.beginPath();
  ctx.arc(x, y, 7 * scale, 0, 2 * Math.PI);
  ctx.stroke();
}

function dot(ctx: CanvasRenderingContext2D, x: number, y: number, radius: number, colour: string): void {
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
  ctx.fill();
}
