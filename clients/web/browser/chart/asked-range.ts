/** The part of a history that a reader asks for, and how fields and addresses say it. All in UTC. Pure. */
import { isAhead, msOf } from '../../../typescript/moments.ts';
import { newestRange, type RANGE_SECONDS, type TimeRange, wholeRange } from './time-range.ts';

export type RangeName = keyof typeof RANGE_SECONDS;

/** The newest part of a history, by its name; between two moments, of which one may be infinite; null: the whole. */
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

/** What the time axis shows. Never more than the history; of a range without any of it, the range itself. @param seconds ascending */
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

/** Moments that an address can keep. Null: the range has all of the history. */
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
  // The day of today ends in the future.
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

/** Days where the moments are those of days, otherwise instants. Empty: infinite. */
export function textsOf({ min, max }: TimeRange): { readonly from: string; readonly to: string } {
  const instant = (second: number): string =>
    Number.isFinite(second) ? new Date(second * 1000).toISOString().replace('.000Z', 'Z') : '';
  const isDays = [min, max].every((second) => !Number.isFinite(second) || second % DAY === 0);
  return isDays
    ? { from: instant(min).slice(0, 10), to: instant(max - DAY).slice(0, 10) }
    : { from: instant(min), to: instant(max) };
}

/** The first and the last day of which something is shown, for two fields of dates. */
export function daysOf({ min, max }: TimeRange): { readonly from: string; readonly to: string } {
  const day = (second: number): string => new Date(second * 1000).toISOString().slice(0, 10);
  return { from: day(min), to: day(max - 1) };
}

function refusedFor(reason: string): ReadRange {
  return { range: null, refused: reason };
}

/** Not a number: there is no such moment. @param after seconds from the beginning of a day */
function secondOf(text: string, after: number): number {
  if (text === '') return after === 0 ? -Infinity : Infinity;
  const ms = msOf(text);
  return ms / 1000 + (text.includes('T') ? 0 : after);
}
