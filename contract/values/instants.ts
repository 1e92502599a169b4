/** Instants as text, without the schema library: code that only orders instants does not load zod. */

export const MONTH_NAMES = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
] as const;

/** `29 Sep 2026`. @param instant RFC 3339 in UTC */
export function dayText(instant: string): string {
  const [year, month, day] = instant.slice(0, 'YYYY-MM-DD'.length).split('-').map(Number);
  return `${day} ${MONTH_NAMES[(month as number) - 1]} ${year}`;
}

/** `29 Sep 2026, 00:00 UTC`; with seconds and milliseconds where they are not zero. @param instant RFC 3339 in UTC */
export function momentText(instant: string): string {
  const time = instant.slice('YYYY-MM-DDT'.length, -1).replace(/\.0+$/, '').replace(/:00$/, '');
  return `${dayText(instant)}, ${time.includes(':') ? time : `${time}:00`} UTC`;
}

/** {@link dayText} for midnight, and {@link momentText} otherwise: most prices are those of a whole day. */
export function shortMomentText(instant: string): string {
  return momentText(instant).replace(/, 00:00 UTC$/, '');
}

const TO_THE_SECOND = '2026-01-01T00:00:00Z'.length;
const TO_THE_MILLISECOND = '2026-01-01T00:00:00.000Z'.length;

/** The later of two instants of `instantSchema`; the first one if the second is unknown. */
export function laterInstant(one: string, other: string | null): string {
  return other === null || millisecondInstant(one) >= millisecondInstant(other) ? one : other;
}

/** Gives an instant of `instantSchema` all three digits of its fraction. As text, such instants sort by time. */
export function millisecondInstant(instant: string): string {
  // A shortcut: nearly all instants have one of these two lengths, and a Date costs ten times as much.
  if (instant.length === TO_THE_SECOND) return `${instant.slice(0, -1)}.000Z`;
  return instant.length === TO_THE_MILLISECOND ? instant : new Date(instant).toISOString();
}

/**
 * Whether a value was released more than 366 days before its moment, so that the sender must confirm it. Announcements come
 * months ahead; a longer time most likely means a wrong year.
 */
export function isReleasedLongBefore(observedAt: string, releasedAt: string): boolean {
  return Date.parse(observedAt) - Date.parse(releasedAt) > 366 * 24 * 60 * 60 * 1000;
}
