/** The part of the time axis that a chart shows, and the texts of its ticks. All in seconds since the epoch, in UTC. Pure. */
import { MONTH_NAMES } from '../../../../contract/values/instants.ts';

export interface TimeRange {
  readonly min: number;
  readonly max: number;
}

const DAY = 86_400;
/** The ranges of the buttons. */
export const RANGE_SECONDS = { '1M': 31 * DAY, '1Y': 366 * DAY, '5Y': 1827 * DAY } as const;
const NARROWEST = 60;
/** The part of the range that stays free at each end. */
const PADDING = 0.02;
/** More labels would touch each other on a phone. */
const LOG_TICKS_MAX = 14;

/** The whole history with some space at its ends. @param seconds ascending */
export function wholeRange(seconds: readonly number[]): TimeRange {
  const [first = 0, last = 0] = [seconds[0], seconds.at(-1)];
  const space = Math.max((last - first) * PADDING, first === last ? DAY : 1);
  return { min: first - space, max: last + space };
}

/** The newest part of the history. */
export function newestRange(seconds: readonly number[], name: keyof typeof RANGE_SECONDS): TimeRange {
  const whole = wholeRange(seconds);
  const last = seconds.at(-1) ?? whole.max;
  const length = RANGE_SECONDS[name];
  return { min: last - length, max: last + length * PADDING };
}

/** @param factor below 1 zooms in. @param at the second that stays where it is */
export function zoomed(range: TimeRange, factor: number, at: number, whole: TimeRange): TimeRange {
  const length = Math.max((range.max - range.min) * factor, NARROWEST);
  const part = (at - range.min) / (range.max - range.min);
  const min = at - length * part;
  return held({ min, max: min + length }, whole);
}

export function panned(range: TimeRange, seconds: number, whole: TimeRange): TimeRange {
  return held({ min: range.min + seconds, max: range.max + seconds }, whole);
}

/** The same length, moved as little as needed, so that the second is inside and not at an edge. */
export function rangeWith(range: TimeRange, second: number, whole: TimeRange): TimeRange {
  const margin = (range.max - range.min) * 0.05;
  if (second < range.min + margin) return panned(range, second - margin - range.min, whole);
  if (second > range.max - margin) return panned(range, second + margin - range.max, whole);
  return range;
}

/** A range never leaves the history. */
function held(range: TimeRange, whole: TimeRange): TimeRange {
  const length = range.max - range.min;
  if (length >= whole.max - whole.min) return whole;
  if (range.min < whole.min) return { min: whole.min, max: whole.min + length };
  return range.max > whole.max ? { min: whole.max - length, max: whole.max } : range;
}

/** Texts of ticks: a second line says the day or the year, where it begins. @param step seconds from tick to tick */
export function timeTicks(seconds: readonly number[], step: number): string[] {
  let context = '';
  return seconds.map((second) => {
    const [text, around] = tickOf(new Date(second * 1000), step);
    const isNew = around !== context;
    context = around;
    return isNew && around !== '' ? `${text}\n${around}` : text;
  });
}

function tickOf(date: Date, step: number): readonly [string, string] {
  const [day, month, year] = [date.getUTCDate(), MONTH_NAMES[date.getUTCMonth()] ?? '', date.getUTCFullYear()];
  if (step >= 365 * DAY) return [String(year), ''];
  if (step >= 28 * DAY) return [month, String(year)];
  if (step >= DAY) return [`${day} ${month}`, String(year)];
  const time = date.toISOString().slice('YYYY-MM-DDT'.length, step < 60 ? -'.000Z'.length : -':00.000Z'.length);
  return [time, `${day} ${month} ${year}`];
}

/** Texts of ticks of values, all with as many decimals as their distance has. */
export function valueTicks(values: readonly number[], step: number): string[] {
  const decimals = decimalsOf(step);
  return values.map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
  );
}

/**
 * The ticks of a logarithmic axis: 1, 2 and 5 times the powers of ten. Of a narrow range, evenly spaced values. Of a very
 * wide one, some of the powers.
 *
 * @param min above 0
 */
export function logTicks(min: number, max: number): readonly number[] {
  const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const of = (digits: readonly number[], every: number): readonly number[] =>
    powers
      .filter((power) => power % every === 0)
      .flatMap((power) => digits.map((digit) => Number(`${digit}e${power}`)))
      .filter((tick) => tick >= min && tick <= max);
  const ticks = of([1, 2, 5], 1);
  if (ticks.length > LOG_TICKS_MAX) return of([1], Math.ceil(powers.length / LOG_TICKS_MAX));
  if (ticks.length > 2) return ticks;
  const power = Math.floor(Math.log10((max - min) / 5));
  const step = [1, 2, 5, 10].find((digit) => Number(`${digit}e${power}`) >= (max - min) / 5) as number;
  const distance = Number(`${step}e${power}`);
  const begin = Math.ceil(min / distance);
  const count = Math.floor(max / distance) - begin + 1;
  return Array.from({ length: count }, (_, index) => Number(`${(begin + index) * step}e${power}`));
}

/** Texts of ticks, each with the digits that it needs. */
export function exactTicks(values: readonly number[]): string[] {
  return values.map((value) => value.toLocaleString('en', { maximumSignificantDigits: 12 }));
}

function decimalsOf(step: number): number {
  for (let decimals = 0; decimals < 12; decimals++) {
    const shifted = step * 10 ** decimals;
    if (Math.abs(shifted - Math.round(shifted)) < 1e-6 * shifted) return decimals;
  }
  return 12;
}
