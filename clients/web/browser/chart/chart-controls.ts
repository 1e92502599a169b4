/** The controls above the chart: metric, scale, ranges, dates, zoom and pan. */

import { button, dom, element, fill } from '../market/elements.ts';
import {
  type AskedRange,
  daysOf,
  RANGE_SECONDS,
  type RangeName,
  type ReadRange,
  rangeBetween,
  type TimeRange,
} from './asked-range.ts';
import { CHART_SCALES, type ChartScale } from './chart-scale.ts';

export interface ControlEvents {
  /** Null: the default metric. */
  readonly onMetric: (metric: string | null) => void;
  readonly onScale: (scale: ChartScale) => void;
  readonly onRange: (read: ReadRange) => void;
  /** @param part the share of the shown range; below 0: to earlier moments */
  readonly onPan: (part: number) => void;
  /** @param factor below 1 zooms in */
  readonly onZoom: (factor: number) => void;
}

export interface ControlContent {
  /** The available metrics, with their titles. `null` is the default one. */
  readonly metrics: ReadonlyMap<string | null, string>;
  readonly metric: string | null;
  readonly scale: ChartScale;
  /** Why the requested dates are not shown. */
  readonly refused: string | null;
}

const RANGE_TITLES: Readonly<Record<RangeName, string>> = {
  '1M': 'Newest month',
  '1Y': 'Newest year',
  '5Y': 'Newest five years',
};
/** Earlier years come from a reader who is still typing. */
const FIRST_YEAR = '1000';

export class ChartControls {
  readonly root: HTMLElement;
  readonly #events: ControlEvents;
  readonly #metric = element('select', { id: 'chart-metric' });
  readonly #scale = element('select', { id: 'chart-scale' });
  readonly #ranges = new Map<RangeName | null, HTMLButtonElement>();
  readonly #from = element('input', { id: 'chart-from', type: 'date' });
  readonly #to = element('input', { id: 'chart-to', type: 'date' });
  readonly #refused = element('div', {});

  constructor(events: ControlEvents) {
    this.#events = events;
    this.#metric.addEventListener('change', () => events.onMetric(this.#metric.value || null));
    this.#scale.addEventListener('change', () => events.onScale(this.#scale.value as ChartScale));
    const options = Object.entries(CHART_SCALES).map(([value, text]) => element('option', { value }, text));
    this.#scale.append(...options);
    for (const field of [this.#from, this.#to]) {
      field.addEventListener('change', () => {
        if (field.value === '' || field.value >= FIRST_YEAR) this.#takeDates();
      });
    }
    this.root = dom`<div><div class="chart-controls row">
${labelled('Metric', this.#metric)}${labelled('Scale', this.#scale)}${this.#rangeButtons()}
<div class="control-group row" role="group" aria-label="Dates (UTC)">
<label for="chart-from" class="visually-hidden">From</label>${this.#from}<label for="chart-to">to</label>${this.#to}</div>
<div class="control-group row" role="group" aria-label="Zoom and pan">
${button('←', () => events.onPan(-0.25), { 'aria-label': 'Earlier' })}
${button('→', () => events.onPan(0.25), { 'aria-label': 'Later' })}
${button('−', () => events.onZoom(1.6), { 'aria-label': 'Zoom out' })}
${button('+', () => events.onZoom(1 / 1.6), { 'aria-label': 'Zoom in' })}</div></div>${this.#refused}</div>`;
  }

  show({ metrics, metric, scale, refused }: ControlContent): void {
    const now = [...this.#metric.options].map(({ text }) => text);
    if (now.join() !== [...metrics.values()].join()) {
      const options = [...metrics].map(([name, title]) => element('option', { value: name ?? '' }, title));
      this.#metric.replaceChildren(...options);
    }
    this.#metric.value = metric ?? '';
    this.#metric.disabled = metrics.size < 2;
    this.#scale.value = scale;
    if (this.#refused.textContent === (refused ?? '')) return;
    fill(this.#refused, refused && dom`<p class="notice notice-alarm" role="alert">${refused}</p>`);
  }

  /** @param shown the range of the time axis */
  showRange(asked: AskedRange, shown: TimeRange): void {
    for (const [name, made] of this.#ranges) made.setAttribute('aria-pressed', String(name === asked));
    const { from, to } = daysOf(shown);
    // Refused dates stay, so that the reader can correct them. A field with the focus is not changed.
    const isRefused = this.#refused.childElementCount > 0 && this.#from.value !== '';
    if (isRefused || [this.#from, this.#to].some((field) => field === document.activeElement)) return;
    this.#from.value = from;
    this.#to.value = to;
  }

  focusAll(): void {
    this.#ranges.get(null)?.focus();
  }

  #rangeButtons(): HTMLElement {
    for (const name of [...(Object.keys(RANGE_SECONDS) as RangeName[]), null]) {
      const made = button(name ?? 'All', () => this.#events.onRange({ range: name, refused: null }));
      made.setAttribute('aria-label', name === null ? 'All: Whole history' : `${name}: ${RANGE_TITLES[name]}`);
      this.#ranges.set(name, made);
    }
    return dom`<div class="control-group row" role="group" aria-label="Range">${[...this.#ranges.values()]}</div>`;
  }

  #takeDates(): void {
    const isBad = [this.#from, this.#to].some(({ validity }) => validity.badInput);
    this.#events.onRange(
      isBad
        ? { range: null, refused: 'This date does not exist.' }
        : rangeBetween(this.#from.value, this.#to.value, Date.now()),
    );
  }
}

function labelled(words: string, field: HTMLSelectElement): HTMLElement {
  return dom`<div class="control-group row"><label for="${field.id}" class="visually-hidden">${words}</label>${field}</div>`;
}
