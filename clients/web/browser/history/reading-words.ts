/** The words that say how far a history is read. Pure. */
import type { HistoryEnd } from './history-reader.ts';
import { KEPT_ROWS_MAX } from './observation-store.ts';

export const END_WORDS: Readonly<Record<HistoryEnd, string>> = {
  whole: '',
  full: `Only the newest ${KEPT_ROWS_MAX.toLocaleString('en')} are shown here. The files have all of them.`,
  'newest-versions': 'Some replaced values could not be read, so the page may miss them at earlier times.',
};

/** @param read rows. @param end null: reading goes on */
export function progressText(read: number, count: number, end: HistoryEnd | null): string {
  const [some, all] = [read.toLocaleString('en'), count.toLocaleString('en')];
  if (count === 0) return 'There is no observation yet.';
  if (end === null) return `Reading the history: ${some} of ${all} observations, newest first …`;
  return `${some} of ${all} observations are read, replaced versions included. ${END_WORDS[end]}`;
}

/** `18:20:03 UTC`. @param ms since the epoch */
export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice('YYYY-MM-DDT'.length, -'.000Z'.length)} UTC`;
}
