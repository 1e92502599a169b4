/** The calendar of expected releases as iCalendar (RFC 5545). Pure. */
import type { Cadence } from '../../../contract/freshness/cadence.ts';
import type { CalendarCadence } from '../../../contract/freshness/expected-next.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type ListFileForm, rowsByKey } from '../../kernel/list/list-file-form.ts';
import { recurrenceOf } from './recurrence.ts';

/** The most events of the calendar: the first ones by name. Most services have fewer sources. */
const EVENTS_MAX = 1000;
/** The most bytes of a line, without its line break (section 3.1). */
const LINE_BYTES = 75;

/** A source that publishes by this cadence. */
interface Release {
  readonly label: string;
  readonly cadence: CalendarCadence;
  /** The year in which its newest value is expected. */
  readonly year: number;
}

/** The sources of a market that have an expected value. */
function releasesOf({ sources }: Pick<Market, 'sources'>): readonly Release[] {
  return sources.flatMap(({ label, cadence, expectedNextAt }) => {
    if (!cadence || !expectedNextAt || !isOfCalendar(cadence)) return [];
    return [{ label, cadence, year: Number(expectedNextAt.slice(0, 4)) }];
  });
}

/** Each label and cadence once, with its latest year, sorted by label. */
function byLabel(releases: readonly Release[]): readonly Release[] {
  const keyOf = ({ label, cadence }: Release) => `${label}\n${canonicalJson(cadence as Json)}`;
  const later = (one: Release, other: Release) => (one.year < other.year ? other : one);
  return rowsByKey(releases, keyOf, later, EVENTS_MAX);
}

/** A list changes often, its calendar seldom, and making one takes long: the last one is kept. */
let last = { shows: '', text: '' };

/** `beside` is the name of the service. Without an event there is no file, because a calendar must have one. */
export const CALENDAR: ListFileForm<Release, string> = {
  rowsOf: (markets) => byLabel(markets.flatMap(releasesOf)),
  beside: async ({ log }) => log?.origin ?? 'Tidemark',
  text(rows, origin) {
    const all = byLabel(rows);
    if (all.length === 0) return null;
    const shows = canonicalJson({ all, origin } as unknown as Json);
    if (shows !== last.shows) last = { shows, text: calendarText(all, origin) };
    return last.text;
  },
  besideIn: calendarOrigin,
};

function calendarText(releases: readonly Release[], origin: string): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Tidemark//Releases//EN',
    `X-WR-CALNAME:${escaped(origin)}: expected releases`,
    ...releases.flatMap((release) => eventLines(release, origin)),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join('');
}

/** The origin that {@link calendarText} received. Null: the text has another form. */
function calendarOrigin(text: string): string | null {
  const found = /\r\nX-WR-CALNAME:(.*): expected releases\r\n/.exec(text.replaceAll('\r\n ', ''))?.[1];
  return found?.replace(/\\(.)/g, '$1') ?? null;
}

function isOfCalendar(cadence: Cadence): cadence is CalendarCadence {
  return cadence.period !== 'minutes';
}

function eventLines({ label, cadence, year }: Release, origin: string): readonly string[] {
  const { startMs, rule, addedMs, leftOutMs } = recurrenceOf(cadence, year);
  const { graceSeconds, period } = cadence;
  return [
    'BEGIN:VEVENT',
    `UID:${sha256Hex(`${origin}\n${label}\n${canonicalJson(cadence as Json)}`).slice(0, 32)}`,
    `DTSTAMP:${year}0101T000000Z`,
    `DTSTART:${moment(startMs)}`,
    ...(rule === null ? [] : [`RRULE:${rule}`]),
    ...(leftOutMs.length === 0 ? [] : [`EXDATE:${leftOutMs.map(moment).join(',')}`]),
    ...(addedMs.length === 0 ? [] : [`RDATE:${addedMs.map(moment).join(',')}`]),
    `SUMMARY:${escaped(label)}`,
    `DESCRIPTION:A value for each ${period} is expected by this time. It is late ${graceSeconds} s after it.`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

/** `20261127T150000Z` */
function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, '2026-11-27T15:00:00'.length).replace(/[-:]/g, '')}Z`;
}

/** Section 3.3.11. Control characters are not allowed in a text. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/[\\;,]/g, '\\$&');
}

/** Splits a line into lines of 75 bytes, between characters. */
function folded(line: string): string {
  let bytes = 0;
  let text = '';
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LINE_BYTES) {
      text += '\r\n ';
      bytes = 1;
    }
    text += character;
    bytes += size;
  }
  return text;
}
