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
const LABEL_HEIGHT = 17;

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

export function drawMarks(plot: uPlot, { data, colours, hidden, chosen, isDisputed }: MarksState): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineWidth = 1.5 * scale;
  const [from, to] = (plot.series[0]?.idxs as [number, number] | undefined) ?? [0, -1];
  const arePointsDrawn = (to - from + 1) * POINT_SPACE * scale < bbox.width;
  for (const [index, line] of data.series.entries()) {
    const { name, rows, words, marked } = line;
    if (hidden.has(name)) continue;
    const colour = colours.series[lookOfSeries(index).colour] as string;
    for (const at of arePointsDrawn ? rows.keys() : marked) {
      const row = rows[at];
      if (row === undefined || at < from || at > to || isLeftOut(line, at)) continue;
      const mark = words.mark(row);
      const { x, y } = pointOf(plot, data, { at, series: index });
      if (mark === null) dot(ctx, x, y, 2.5 * scale, colour);
      else drawMark(ctx, mark, { x, y, size: 5 * scale, ground: colours.surface, colours });
    }
    drawLast(plot, { data, colours, index, colour, isDisputed });
  }
  if (chosen !== null) drawChosen(plot, chosen, colours, data);
  ctx.restore();
  // The right side has an axis of its own.
  if (data.series.some(({ axis }) => axis === 'y2')) return;
  drawLabels(plot, { data, colours, hidden });
}

/** The digits of each series' newest value, in the margin on the right. The highest one stands first; none covers another. */
function drawLabels(plot: uPlot, { data, colours, hidden }: Pick<MarksState, 'data' | 'colours' | 'hidden'>): void {
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const height = LABEL_HEIGHT * scale;
  const labels = data.series.flatMap(({ name }, index) => {
    const place = hidden.has(name) ? null : lastStanding(data, index, data.seconds.length);
    const digits = place === null ? null : labelOf(data, place);
    if (place === null || digits === null) return [];
    return [{ digits, index, y: pointOf(plot, data, place).y }];
  });
  ctx.save();
  ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  let free = bbox.top;
  for (const { digits, index, y } of labels.sort((one, other) => one.y - other.y)) {
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    const top = Math.max(free, y - height / 2);
    free = top + height + scale;
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

interface MarkLook {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly ground: string;
  readonly colours: Pick<ChartColours, 'notice' | 'alarm' | 'accent' | 'ink'>;
}

/** A diamond: corrected; filled: announced. A cross: retracted. A hollow circle: unknown. A triangle with a stroke in it: disputed. */
function drawMark(ctx: CanvasRenderingContext2D, mark: NonNullable<PointMark> | 'disputed', look: MarkLook): void {
  const { x, y, size, ground, colours } = look;
  ctx.setLineDash([]);
  ctx.beginPath();
  if (mark === 'retracted') {
    ctx.strokeStyle = colours.alarm;
    ctx.moveTo(x - size * 0.8, y - size * 0.8);
    ctx.lineTo(x + size * 0.8, y + size * 0.8);
    ctx.moveTo(x + size * 0.8, y - size * 0.8);
    ctx.lineTo(x - size * 0.8, y + size * 0.8);
  } else if (mark === 'unknown') {
    ctx.strokeStyle = colours.notice;
    ctx.fillStyle = ground;
    ctx.arc(x, y, size * 0.8, 0, 2 * Math.PI);
    ctx.fill();
  } else if (mark === 'disputed') {
    ctx.strokeStyle = colours.alarm;
    ctx.fillStyle = ground;
    ctx.moveTo(x, y - size);
    ctx.lineTo(x + size, y + size * 0.8);
    ctx.lineTo(x - size, y + size * 0.8);
    ctx.closePath();
    ctx.fill();
    ctx.moveTo(x, y - size * 0.35);
    ctx.lineTo(x, y + size * 0.45);
  } else {
    ctx.strokeStyle = colours.ink;
    ctx.fillStyle = mark === 'announced' ? colours.ink : ground;
    ctx.moveTo(x, y - size * 1.2);
    ctx.lineTo(x + size * 1.2, y);
    ctx.lineTo(x, y + size * 1.2);
    ctx.lineTo(x - size * 1.2, y);
    ctx.closePath();
    ctx.fill();
  }
  ctx.stroke();
}

interface LastLook extends Pick<MarksState, 'data' | 'colours' | 'isDisputed'> {
  readonly index: number;
  readonly colour: string;
}

/** A thin line at the newest value of a series, across the whole chart. */
function drawLast(plot: uPlot, { data, colours, index, colour, isDisputed }: LastLook): void {
  const place = lastStanding(data, index, data.seconds.length);
  if (place === null) return;
  const { ctx, bbox } = plot;
  const scale = devicePixelRatio;
  const { x, y } = pointOf(plot, data, place);
  const isKnown = data.series[index]?.values[place.at] != null;
  if (isKnown) {
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
  if (!isDisputed || isLeftOut(data.series[index] as ChartSeries, place.at)) return;
  const above = isKnown ? 12 * scale : 0;
  drawMark(ctx, 'disputed', { x, y: y - above, size: 6 * scale, ground: colours.surface, colours });
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
