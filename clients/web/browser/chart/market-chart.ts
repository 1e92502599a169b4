/** The canvas of the chart: lines on a true time axis, by uPlot. It knows places and ranges, and nothing of words. */
import uPlot from 'uplot';
import {
  type AskedRange,
  areDays,
  DAY_STEPS,
  exactTicks,
  logTicks,
  shownRange,
  type TimeRange,
  timeTicks,
  valueTicks,
  wholeRange,
} from './asked-range.ts';
import { type ChartColours, chartColours, lookOfSeries, onOtherColours, SERIES_DASHES } from './chart-colours.ts';
import type { ChartData, ChartPlace } from './chart-data.ts';
import { drawMarks, labelMargin } from './chart-marks.ts';
import { besideAxis } from './chart-scale.ts';
import type { SeenLines } from './seen-chart.ts';

const FONT = '12px system-ui, sans-serif';
/** In CSS pixels: a sheet of A4 or Letter between its margins. */
const PRINTED = { width: 660, height: 340 };
const EMPTY: ChartData = {
  ...{ title: '', isStepped: false, seconds: [], series: [], scale: 'linear' },
};

export interface ShownChart {
  readonly data: ChartData;
  readonly hidden: ReadonlySet<string>;
  readonly isDisputed: boolean;
  /** E.g. `USD per troy ounce`; of each axis. */
  readonly axisTexts: readonly string[];
  readonly range: AskedRange;
  /** Notes that a reader needs beside the lines. */
  readonly notes: readonly string[];
}

/** The ticks of an axis as they are drawn. */
export interface AxisTicks {
  readonly splits: readonly (number | null)[];
  readonly texts: readonly string[];
}

/** The canvas and what it is made of. */
export interface DrawnChart extends SeenLines {
  readonly plot: uPlot;
  readonly colours: ChartColours;
  readonly isDisputed: boolean;
  /** By the name of the scale. */
  readonly ticks: ReadonlyMap<string, AxisTicks>;
}

export class MarketChart {
  readonly #host: HTMLElement;
  readonly #onMove: (plot: uPlot) => void;
  readonly #onRange: () => void;
  #plot: uPlot | null = null;
  /** The lines that the plot was made for. */
  #lines = '';
  #shown: ShownChart = {
    data: EMPTY,
    hidden: new Set(),
    isDisputed: false,
    axisTexts: [],
    range: null,
    notes: [],
  };
  #chosen: ChartPlace | null = null;
  /** By the name of the scale. */
  readonly #ticks = new Map<string, AxisTicks>();
  /** Paper shows the whole history, in light colours, as wide as a sheet. */
  #isPrinted = false;
  #asked: AskedRange = null;

  /**
   * @param onMove after the crosshair has moved
   * @param onRange after another part of the history is shown
   */
  constructor(host: HTMLElement, onMove: (plot: uPlot) => void, onRange: () => void) {
    this.#host = host;
    this.#onMove = onMove;
    this.#onRange = onRange;
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(host);
    onOtherColours(() => this.#make());
    const media = matchMedia('print');
    media.addEventListener('change', () => this.#print(media.matches));
    addEventListener('beforeprint', () => this.#print(true));
    addEventListener('afterprint', () => this.#print(false));
  }

  get data(): ChartData {
    return this.#shown.data;
  }

  get plot(): uPlot | null {
    return this.#plot;
  }

  get whole(): TimeRange {
    return wholeRange(this.#shown.data.seconds);
  }

  get range(): TimeRange {
    return shownRange(this.#isPrinted ? null : this.#asked, this.#shown.data.seconds);
  }

  get asked(): AskedRange {
    return this.#asked;
  }

  /** Null: nothing is drawn. */
  get drawn(): DrawnChart | null {
    const plot = this.#plot;
    if (plot === null || this.data.seconds.length === 0) return null;
    const drawn = { plot, colours: chartColours(this.#host), ticks: this.#ticks };
    return { ...this.#shown, ...drawn, range: this.range, width: plot.width };
  }

  /** Shows other data. No point is chosen then. */
  show(shown: ShownChart): void {
    this.#shown = shown;
    this.#asked = shown.range;
    this.#chosen = null;
    const lines = JSON.stringify([
      shown.axisTexts,
      shown.data.title,
      shown.data.isStepped,
      shown.data.scale,
      isDaily(shown.data),
      shown.data.series.map(({ name, axis }) => [name, axis]),
    ]);
    if (this.#plot === null || lines !== this.#lines) {
      this.#lines = lines;
      this.#make();
      return;
    }
    this.#plot.setData(alignedOf(shown.data), false);
    for (const [index, { name }] of shown.data.series.entries()) {
      const show = !shown.hidden.has(name);
      if (this.#plot.series[index + 1]?.show !== show) this.#plot.setSeries(index + 1, { show });
    }
    this.#plot.setScale('x', { ...this.range });
  }

  /** @param asked as the reader moves the chart */
  setRange(asked: AskedRange): void {
    const { min, max } = this.whole;
    const isWhole = asked !== null && typeof asked !== 'string' && asked.min <= min && asked.max >= max;
    this.#asked = isWhole ? null : asked;
    this.#plot?.setScale('x', { ...this.range });
    this.#onRange();
  }

  choose(place: ChartPlace | null): void {
    this.#chosen = place;
    this.#plot?.redraw(false);
  }

  #print(isPrinted: boolean): void {
    if (isPrinted === this.#isPrinted) return;
    this.#isPrinted = isPrinted;
    this.#make();
  }

  #make(): void {
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#options(), alignedOf(this.#shown.data), this.#host);
    this.#plot.setScale('x', { ...this.range });
  }

  #ticksOf(scale: string, splits: readonly (number | null)[], texts: string[]): string[] {
    this.#ticks.set(scale, { splits, texts });
    return texts;
  }

  #size(): { width: number; height: number } {
    if (this.#isPrinted) return PRINTED;
    return { width: Math.max(200, this.#host.clientWidth), height: Math.max(200, this.#host.clientHeight) };
  }

  #options(): uPlot.Options {
    const colours = chartColours(this.#host, this.#isPrinted);
    const { data, hidden, axisTexts } = this.#shown;
    const stepped = data.isStepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
    const valueScale: uPlot.Scale = {
      distr: data.scale === 'log' ? 3 : 1,
      range: (_plot, min, max) => (data.scale === 'log' ? logRangeOfValues(min, max) : rangeOfValues(min, max)),
    };
    const lines = {
      grid: { stroke: colours.rule, width: 1 },
      ticks: { stroke: colours.rule, width: 1, size: 5 },
      stroke: colours.soft,
      font: FONT,
    };
    return {
      ...this.#size(),
      tzDate: (second) => uPlot.tzDate(new Date(second * 1000), 'Etc/UTC'),
      padding: [12, axisTexts.length > 1 ? 0 : () => labelMargin(this.#shown.data), 0, 0],
      legend: { show: false },
      cursor: {
        drag: { x: false, y: false, setScale: false },
        points: { show: false },
        y: false,
        bind: { dblclick: () => null },
      },
      scales: { x: { time: true, auto: false }, y: valueScale, y2: valueScale },
      axes: [
        {
          ...lines,
          space: 56,
          ...(isDaily(data) && { incrs: DAY_STEPS }),
          size: 44,
          values: (_plot, splits, _axis, _space, step) => this.#ticksOf('x', splits, timeTicks(splits, step)),
        },
        ...axisTexts.map((text, at): uPlot.Axis => {
          const scale = at === 0 ? 'y' : 'y2';
          return {
            ...lines,
            scale,
            side: at === 0 ? 3 : 1,
            grid: { ...lines.grid, show: at === 0 },
            size: (_plot, texts) => 14 + 7 * Math.max(4, ...(texts ?? []).map((text) => text?.length ?? 0)),
            ...(data.scale === 'log' && {
              splits: (_plot, _axis, min, max) => [...logTicks(min, max)],
              filter: (_plot, splits) => splits,
            }),
            values: (_plot, splits, _axis, _space, step) =>
              this.#ticksOf(scale, splits, data.scale === 'log' ? exactTicks(splits) : valueTicks(splits, step)),
            label: besideAxis(text),
            labelFont: FONT,
            labelSize: 20,
          };
        }),
      ],
      series: [
        {},
        ...data.series.map(({ name, axis }, index) => {
          const { colour, dash } = lookOfSeries(index);
          return {
            label: name,
            scale: axis,
            show: !hidden.has(name),
            stroke: colours.series[colour] as string,
            width: 1.75,
            // Lines go exactly through their points: uPlot would move them by half their width.
            pxAlign: 0,
            dash: [...(SERIES_DASHES[dash] as readonly number[])],
            points: { show: false },
            ...(stepped !== undefined && { paths: stepped }),
          };
        }),
      ],
      hooks: {
        draw: [(plot) => drawMarks(plot, { ...this.#shown, colours, chosen: this.#chosen })],
        setCursor: [(plot) => this.#onMove(plot)],
      },
    };
  }
}

/** Whether all observations are of whole days, so that hours on the axis would mean nothing. */
function isDaily({ seconds, series }: ChartData): boolean {
  return areDays(seconds.filter((_, at) => series.some(({ rows }) => rows[at] !== undefined)));
}

/** uPlot reads the arrays, and changes none. */
function alignedOf({ seconds, series }: ChartData): uPlot.AlignedData {
  return [seconds as number[], ...series.map(({ values }) => values)];
}

/** Some space above and below, as wide on the axis at each end. */
function logRangeOfValues(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !(min > 0)) return [1, 10];
  const space = Math.max(1.02, (max / min) ** 0.08);
  return [min / space, max * space];
}

/** Some space above and below; of a single value, a part of it. */
function rangeOfValues(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
  const space = max === min ? Math.abs(max) * 0.02 || 1 : (max - min) * 0.08;
  return [min - space, max + space];
}
