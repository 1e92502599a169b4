/** The requested part of a history: its form in fields and addresses, its moves, and the ticks of axes. All in UTC. Pure. */
import { MONTH_NAMES } from '../../../../contract/values/instants.ts';
import { isAhead, msOf } from '../../../typescript/moments.ts';

export type RangeName = keyof typeof RANGE_SECONDS;

/**
 * The newest part of a history, by name; a range between two moments, one of which may be infinite; or null: the whole history.
 */
export type AskedRange = RangeName | TimeRange | null;

/** A range, or the reason why it is refused. */
export interface ReadRange {
  readonly range: AskedRange;
  readonly refused: string | null;
}

const NAMES: readonly RangeName[] = ['1M', '1Y', '5Y'];
const DAY = 86_400;
/** Moments of a shorter range are kept to the minute, of a longer one to the day. */
const EXACT_SECONDS = 20 * DAY;

/**
 * The range of the time axis: the part of the asked range within the history; or the asked range itself, if the history lies
 * outside.
 * @param seconds ascending
 */
export function shownRange(asked: AskedRange, seconds: readonly number[]): TimeRange {
  const whole = wholeRange(seconds);
  if (asked === null) return whole;
  if (typeof asked === 'string') return newestRange(seconds, asked);
  const range = { min: Math.max(asked.min, whole.min), max: Math.min(asked.max, whole.max) };
  if (range.min < range.max) return range;
  if (Number.isFinite(asked.min))
    return { min: asked.min, max: Math.max(asked.min + DAY, Math.min(asked.max, asked.min + 31 * DAY)) };
  return { min: asked.max - 31 * DAY, max: asked.max };
}

/** The range with moments that an address can contain. Null: the range has the whole history. */
export function roundedRange({ min, max }: TimeRange): TimeRange {
  const unit = max - min > EXACT_SECONDS ? DAY : 60;
  return { min: Math.floor(min / unit) * unit, max: Math.ceil(max / unit) * unit };
}

/** @param from a day, or an instant of RFC 3339; empty: from the beginning. @param to as `from`; a day is inside the range */
export function rangeBetween(from: string, to: string, nowMs: number): ReadRange {
  const [min, max] = [secondOf(from, 0), secondOf(to, DAY)];
  for (const [text, second] of [
    [from, min],
    [to, max],
  ] as const) {
    if (Number.isNaN(second)) return refusedFor(`“${text.slice(0, 40)}” is no date that exists.`);
  }
  if (from !== '' && isAhead(min * 1000, nowMs)) return refusedFor(`${from} is in the future.`);
  // Today is compared by its beginning, because its end is in the future.
  if (to !== '' && isAhead(secondOf(to, 0) * 1000, nowMs)) return refusedFor(`${to} is in the future.`);
  if (min >= max) return refusedFor(`${from} is after ${to}.`);
  return {
    range: from === '' && to === '' ? null : { min: from === '' ? -Infinity : min, max: to === '' ? Infinity : max },
    refused: null,
  };
}

/** @param words of the fragment of an address */
export function readRange(words: URLSearchParams, nowMs: number): ReadRange {
  const name = NAMES.find((each) => each === words.get('range'));
  return name === undefined
    ? rangeBetween(words.get('from') ?? '', words.get('to') ?? '', nowMs)
    : { range: name, refused: null };
}

/** The inverse of {@link readRange}. */
export function writeRange(words: URLSearchParams, asked: AskedRange): void {
  if (typeof asked === 'string') words.set('range', asked);
  if (asked === null || typeof asked === 'string') return;
  const { from, to } = textsOf(asked);
  if (from !== '') words.set('from', from);
  if (to !== '') words.set('to', to);
}

/** As days if the moments are those of days, otherwise as instants. Empty: infinite. */
export function textsOf({ min, max }: TimeRange): { readonly from: string; readonly to: string } {
  const instant = (second: number): string =>
    Number.isFinite(second) ? new Date(second * 1000).toISOString().replace('.000Z', 'Z') : '';
  const isDays = [min, max].every((second) => !Number.isFinite(second) || second % DAY === 0);
  return isDays
    ? { from: instant(min).slice(0, 10), to: instant(max - DAY).slice(0, 10) }
    : { from: instant(min), to: instant(max) };
}

/** The first and last days with anything shown, for two date fields. */
export function daysOf({ min, max }: TimeRange): { readonly from: string; readonly to: string } {
  const day = (second: number): string => new Date(second * 1000).toISOString().slice(0, 10);
  return { from: day(min), to: day(max - 1) };
}

function refusedFor(reason: string): ReadRange {
  return { range: null, refused: reason };
}

/** NaN: there is no such moment. @param after seconds from the beginning of a day */
function secondOf(text: string, after: number): number {
  if (text === '') return after === 0 ? -Infinity : Infinity;
  const ms = msOf(text);
  return ms / 1000 + (text.includes('T') ? 0 : after);
}

export interface TimeRange {
  readonly min: number;
  readonly max: number;
}

/** The ranges of the buttons. */
export const RANGE_SECONDS = { '1M': 31 * DAY, '1Y': 366 * DAY, '5Y': 1827 * DAY } as const;
const NARROWEST = 60;
/** The share of the range that stays empty at each end. */
const PADDING = 0.02;
/** With more labels, they would overlap on a phone. */
const LOG_TICKS_MAX = 14;

/** The whole history with some space at its ends. @param seconds ascending */
export function wholeRange(seconds: readonly number[]): TimeRange {
  const [first = 0, last = 0] = [seconds[0], seconds.at(-1)];
  const space = Math.max((last - first) * PADDING, first === last ? DAY : 1);
  return { min: first - space, max: last + space };
}

/** The newest part of the history, with this length. */
function newestRange(seconds: readonly number[], name: keyof typeof RANGE_SECONDS): TimeRange {
  const whole = wholeRange(seconds);
  const last = seconds.at(-1) ?? whole.max;
  const length = RANGE_SECONDS[name];
  return { min: last - length, max: last + length * PADDING };
}

/** @param factor below 1 zooms in. @param at the second that keeps its place */
export function zoomed(range: TimeRange, factor: number, at: number, whole: TimeRange): TimeRange {
  const length = Math.max((range.max - range.min) * factor, NARROWEST);
  const part = (at - range.min) / (range.max - range.min);
  const min = at - length * part;
  return held({ min, max: min + length }, whole);
}

export function panned(range: TimeRange, seconds: number, whole: TimeRange): TimeRange {
  return held({ min: range.min + seconds, max: range.max + seconds }, whole);
}

/** The same length, moved as little as possible, so that the second is inside and not at an edge. */
export function rangeWith(range: TimeRange, second: number, whole: TimeRange): TimeRange {
  const margin = (range.max - range.min) * 0.05;
  if (second < range.min + margin) return panned(range, second - margin - range.min, whole);
  if (second > range.max - margin) return panned(range, second + margin - range.max, whole);
  return range;
}

/** Keeps a range inside the history. */
function held(range: TimeRange, whole: TimeRange): TimeRange {
  const length = range.max - range.min;
  if (length >= whole.max - whole.min) return whole;
  if (range.min < whole.min) return { min: whole.min, max: whole.min + length };
  return range.max > whole.max ? { min: whole.max - length, max: whole.max } : range;
}

/** The distances of ticks on an axis of days, in seconds. uPlot takes 30 and 365 days for months and years. */
export const DAY_STEPS = [
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 30, 60, 90, 120, 180],
  ...[1, 2, 5, 10, 25, 50, 100].map((years) => years * 365),
].map((days) => days * DAY);

/** Whether each of the moments is the beginning of a day. */
export function areDays(seconds: readonly number[]): boolean {
  return seconds.every((second) => second % DAY === 0);
}

/** Texts of ticks. A second line has the day or the year, where it begins. @param step seconds from tick to tick */
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

/** Texts of ticks of values, all with the number of decimals of their distance. */
export function valueTicks(values: readonly number[], step: number): string[] {
  const decimals = decimalsOf(step);
  return values.map((value) =>
    value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
  );
}

/**
 * The ticks of a logarithmic axis: 1, 2 and 5 times the powers of ten. A narrow range has evenly spaced values; a very wide one
 * has some of the powers.
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

/** Texts of ticks, each with its necessary digits. */
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
