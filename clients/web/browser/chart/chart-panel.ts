/** The chart with its legend, crosshair and keyboard control, and its texts for readers who do not see it. */
import type uPlot from 'uplot';
import { momentText } from '../../../../contract/values/instants.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { dom, element, fill } from '../market/elements.ts';
import { many } from '../market/words.ts';
import { type AskedRange, panned, rangeWith, type TimeRange, zoomed } from './asked-range.ts';
import { ChartControls, type ControlContent, type ControlEvents } from './chart-controls.ts';
import {
  beside,
  type ChartData,
  type ChartPlace,
  endOfSeries,
  lastStanding,
  placeOf,
  rowAt,
  step,
} from './chart-data.ts';
import { listenToGestures } from './chart-gestures.ts';
import { dayOfSecond } from './chart-join.ts';
import { legendOf, marksKey } from './chart-legend.ts';
import { pointOf } from './chart-marks.ts';
import { type DrawnChart, MarketChart } from './market-chart.ts';
import { creditTexts, type SourceOf } from './seen-chart.ts';

export interface ChartPanelEvents extends Pick<ControlEvents, 'onMetric' | 'onScale' | 'onRange'> {
  /** A point was chosen by mouse, touch or keyboard; null: no point is chosen any more. */
  readonly onChoose: (row: PublicObservation | null) => void;
  /** The pointer is over a point; null: it has left the point. */
  readonly onHover: (row: PublicObservation | null) => void;
  /** The reader has moved the chart, or switched lines on or off. */
  readonly onMove: (range: AskedRange) => void;
}

export interface ChartContent extends Omit<ControlContent, 'scale'> {
  readonly data: ChartData;
  readonly marketName: string;
  readonly isDisputed: boolean;
  readonly axisTexts: readonly string[];
  readonly range: AskedRange;
  /** Notes below the chart. */
  readonly notes: readonly string[];
  readonly sourceOf: SourceOf;
}

/** Page up and Page down move by this many points, or by a tenth of the visible ones. */
const LARGE_STEP = 10;
/** The delay of the live region, so that a held key does not flood it. */
const SPEECH_DELAY_MS = 200;

export class ChartPanel {
  readonly root: HTMLElement;
  readonly #events: ChartPanelEvents;
  readonly #chart: MarketChart;
  readonly #host: HTMLElement;
  readonly #readout = element('p', { class: 'chart-readout number' });
  readonly #legend = element('div', { class: 'chart-legend row', role: 'group', 'aria-label': 'Sources in the chart' });
  readonly #notes = element('p', { class: 'chart-notes small', role: 'status' });
  /** Shown on paper and in copies of the page, too: licences require it. */
  readonly #credits = element('div', { class: 'chart-credits small soft' });
  readonly #progress = element('p', { class: 'chart-progress small soft' });
  readonly #live = element('p', { class: 'visually-hidden', role: 'status' });
  readonly #controls: ChartControls;
  readonly #hidden = new Set<string>();
  #place: ChartPlace | null = null;
  #content: ChartContent | null = null;
  #speech: ReturnType<typeof setTimeout> | undefined;
  #legendOf = '';

  /** @param tools below the legend */
  constructor(events: ChartPanelEvents, tools: readonly HTMLElement[]) {
    this.#events = events;
    this.#host = element('div', {
      class: 'chart-host',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'chart',
      'aria-describedby': 'chart-keys',
    });
    this.#controls = new ChartControls({
      ...events,
      onPan: (part) => this.#pan(part),
      onZoom: (factor) => this.#zoom(factor),
    });
    this.root = this.#build(tools);
    this.#chart = new MarketChart(
      this.#host,
      (plot) => this.#hover(plot),
      () => {
        const { min, max } = this.#showRange();
        this.#say(`Showing ${dayOfSecond(min)} to ${dayOfSecond(max)}`);
        events.onMove(this.#chart.asked);
      },
    );
    listenToGestures(this.#host, this.#chart, (left, top) => this.#tap(left, top));
    this.#host.addEventListener('keydown', (event) => this.#key(event));
    this.#host.addEventListener('pointerleave', () => this.#hoverPlace(null));
  }

  /** Null: there is no chart. */
  get drawn(): DrawnChart | null {
    return this.#chart.drawn;
  }

  /** The names of the lines that are switched off. */
  get hidden(): ReadonlySet<string> {
    return this.#hidden;
  }

  focus(): void {
    this.#host.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: 'nearest' });
  }

  show(content: ChartContent): void {
    this.#content = content;
    const { data } = content;
    this.#controls.show({ ...content, scale: data.scale });
    this.#showLegend();
    this.root.toggleAttribute('data-empty', data.seconds.length === 0);
    this.#chart.show({ ...content, hidden: this.#hidden });
    const notes = content.notes.join(' ');
    if (this.#notes.textContent !== notes) this.#notes.textContent = notes;
    this.#showCredits();
    this.#showRange();
    this.#hoverPlace(null);
  }

  showProgress(text: string): void {
    if (this.#progress.textContent !== text) this.#progress.textContent = text;
  }

  /** Shows a point that was chosen here or elsewhere, and announces it. */
  choose(row: PublicObservation | null): void {
    this.mark(row);
    const { range, whole } = this.#chart;
    const second = row === null ? range.min : Date.parse(row.observedAt) / 1000;
    if (second < range.min || second > range.max) this.#chart.setRange(rangeWith(range, second, whole));
    const place = this.#place;
    this.#say(row === null || place === null ? '' : (this.#chart.data.series[place.series]?.words.speech(row) ?? ''));
  }

  /** Announces only the last of several texts in a row. */
  #say(text: string): void {
    clearTimeout(this.#speech);
    this.#speech = setTimeout(() => {
      this.#live.textContent = text;
    }, SPEECH_DELAY_MS);
  }

  /**
   * Shows a point without announcing it or moving the chart. The text of another point would belong to a moment that is not
   * shown.
   */
  mark(row: PublicObservation | null): void {
    if (row === null) {
      clearTimeout(this.#speech);
      this.#live.textContent = '';
    }
    this.#place = row === null ? null : placeOf(this.#chart.data, row);
    this.#chart.choose(this.#place);
    this.#hoverPlace(null);
  }

  #build(tools: readonly HTMLElement[]): HTMLElement {
    return dom`<section class="panel chart-panel stack" aria-labelledby="chart-heading">
<h2 id="chart-heading" class="visually-hidden">Chart</h2>
${this.#controls.root}${this.#readout}${this.#host}${this.#notes}${this.#legend}${marksKey()}${this.#credits}${tools}${this.#progress}
<p id="chart-keys" class="small soft">Keys: arrows walk along the points and from source to source; Home, End, Page Up and Page Down go
further; plus, minus and 0 zoom; Escape leaves. Drag or pinch to move; after a click, the wheel zooms. Times are in UTC.</p>
${this.#live}</section>`;
  }

  #showLegend(): void {
    const { data } = this.#content as ChartContent;
    const isCompared = data.series.some(({ slug }) => slug !== data.series[0]?.slug);
    const lines = data.series.map(({ name, words, axis }, series) => {
      const place = isCompared ? lastStanding(data, series, data.seconds.length) : null;
      const row = place === null ? undefined : rowAt(data, place);
      const value = row === undefined ? '' : words.whole(row);
      return { name, value: axis === 'y2' ? `${value}, right axis` : value };
    });
    const shown = JSON.stringify([lines, [...this.#hidden]]);
    if (shown === this.#legendOf) return;
    this.#legendOf = shown;
    const focused = [...this.#legend.children].indexOf(document.activeElement as Element);
    this.#legend.replaceChildren(
      ...legendOf(lines, this.#hidden, (name) => {
        if (!this.#hidden.delete(name)) this.#hidden.add(name);
        this.show(this.#content as ChartContent);
        this.#events.onMove(this.#chart.asked);
      }),
    );
    (this.#legend.children[focused] as HTMLElement | undefined)?.focus();
  }

  #showCredits(): void {
    const { data, sourceOf } = this.#content as ChartContent;
    const texts = creditTexts(
      data.series.filter(({ name }) => !this.#hidden.has(name)),
      sourceOf,
    );
    const shown = [...this.#credits.children].map(({ textContent }) => textContent);
    if (shown.join('\n') !== texts.join('\n'))
      fill(
        this.#credits,
        texts.map((text) => dom`<p>${text}</p>`),
      );
  }

  #showRange(): TimeRange {
    const { asked, data, range } = this.#chart;
    const [first = range.min, last = range.max] = [data.seconds[0], data.seconds.at(-1)];
    const shown = {
      min: Math.max(range.min, Math.min(first, range.max - 1)),
      max: Math.min(range.max, Math.max(last, range.min) + 1),
    };
    this.#controls.showRange(asked, shown);
    const inside = data.seconds.filter((second) => second >= range.min && second <= range.max);
    const [from, to] = [inside[0], inside.at(-1)];
    const span = from === undefined || to === undefined ? '' : `, ${dayOfSecond(from)} to ${dayOfSecond(to)}`;
    const { marketName } = this.#content as ChartContent;
    const label = `Chart of ${data.title.toLowerCase()} of ${marketName}: ${many(inside.length, 'moment')}${span}`;
    this.#host.setAttribute('aria-label', label);
    return shown;
  }

  #zoom(factor: number): void {
    const { range, whole } = this.#chart;
    const row = this.#place === null ? undefined : rowAt(this.#chart.data, this.#place);
    const chosen = row === undefined ? null : Date.parse(row.observedAt) / 1000;
    const isInside = chosen !== null && chosen > range.min && chosen < range.max;
    this.#chart.setRange(zoomed(range, factor, isInside ? chosen : (range.min + range.max) / 2, whole));
  }

  #pan(part: number): void {
    const { range, whole } = this.#chart;
    this.#chart.setRange(panned(range, (range.max - range.min) * part, whole));
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { data } = this.#chart;
    const from = this.#place ?? endOfSeries(data, this.#firstShown(), 'last');
    const isFirst = this.#place === null;
    const keys: Readonly<Record<string, () => ChartPlace | null | undefined>> = {
      ArrowLeft: () => from && (isFirst ? from : step(data, from, -1)),
      ArrowRight: () => from && (isFirst ? from : step(data, from, 1)),
      PageUp: () => from && step(data, from, -this.#largeStep()),
      PageDown: () => from && step(data, from, this.#largeStep()),
      Home: () => from && endOfSeries(data, from.series, 'first'),
      End: () => from && endOfSeries(data, from.series, 'last'),
      ArrowUp: () => from && this.#nextSource(from, -1),
      ArrowDown: () => from && this.#nextSource(from, 1),
      '+': () => this.#zoom(1 / 1.6) as undefined,
      '=': () => this.#zoom(1 / 1.6) as undefined,
      '-': () => this.#zoom(1.6) as undefined,
      '0': () => this.#chart.setRange(null) as undefined,
      Escape: () => this.#leave() as undefined,
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    const place = act();
    const row = place == null ? undefined : rowAt(data, place);
    if (row !== undefined) this.#events.onChoose(row);
  }

  /** Ends the choice of a point; without a chosen point, moves the focus to the controls. */
  #leave(): void {
    if (this.#place !== null) this.#events.onChoose(null);
    this.#controls.focusAll();
  }

  #firstShown(): number {
    const shown = this.#chart.data.series.findIndex(({ name }) => !this.#hidden.has(name));
    return Math.max(0, shown);
  }

  #nextSource(from: ChartPlace, direction: 1 | -1): ChartPlace | null {
    const { data } = this.#chart;
    for (let series = from.series + direction; series >= 0 && series < data.series.length; series += direction) {
      if (!this.#hidden.has(data.series[series]?.name ?? '')) return beside(data, from, series);
    }
    return from;
  }

  #largeStep(): number {
    const [first, last] = (this.#chart.plot?.series[0]?.idxs as [number, number] | undefined) ?? [0, 0];
    return Math.max(LARGE_STEP, Math.round((last - first) / 10));
  }

  #tap(left: number, top: number): void {
    this.#host.focus({ preventScroll: true });
    const place = this.#nearest(left, top);
    const row = place === null ? undefined : rowAt(this.#chart.data, place);
    if (row !== undefined) this.#events.onChoose(row);
  }

  #hover(plot: uPlot): void {
    const { left = -1, top = -1 } = plot.cursor;
    this.#hoverPlace(left < 0 ? null : this.#nearest(left, top));
  }

  /** Without a hovered point, the crosshair's line is at the chosen point. */
  #hoverPlace(place: ChartPlace | null): void {
    const { data } = this.#chart;
    this.#events.onHover((place === null ? undefined : rowAt(data, place)) ?? null);
    const shown = place ?? this.#place;
    const row = shown === null ? undefined : rowAt(data, shown);
    const line = data.series[shown?.series ?? -1];
    const text =
      row === undefined
        ? matchMedia('(hover: none)').matches
          ? 'Touch the chart to read a value.'
          : 'Point at the chart, or focus it and use the arrow keys.'
        : `${momentText(row.observedAt)}  ${line?.words.value(row)}  ${readoutName(data, shown as ChartPlace)}`;
    if (this.#readout.textContent !== text) this.#readout.textContent = text;
  }

  /** The nearest point to a place in the plot, in CSS pixels: first by time, then by value. */
  #nearest(left: number, top: number): ChartPlace | null {
    const { plot, data } = this.#chart;
    if (plot === null || data.seconds.length === 0) return null;
    const at = plot.posToIdx(left);
    const { left: plotLeft, top: plotTop } = plot.bbox;
    const places = data.series.flatMap(({ name }, series) => {
      const place = this.#hidden.has(name) ? null : beside(data, { at, series }, series);
      if (place === null) return [];
      const { x, y } = pointOf(plot, data, place);
      const across = Math.round(Math.abs((x - plotLeft) / devicePixelRatio - left));
      return [{ place, across, down: Math.abs((y - plotTop) / devicePixelRatio - top) }];
    });
    return places.sort((one, other) => one.across - other.across || one.down - other.down)[0]?.place ?? null;
  }
}

/** The source; with its market, if there are several. */
function readoutName(data: ChartData, place: ChartPlace): string {
  const line = data.series[place.series];
  const isCompared = data.series.some(({ slug }) => slug !== line?.slug);
  return [...(isCompared ? [line?.marketName] : []), rowAt(data, place)?.sourceLabel].join(', ');
}
