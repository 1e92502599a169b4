/** Whether a price is old, where nobody says when the next one is due. Pure. */

const DAY_MS = 86_400_000;
/** Longer than a market rests over holidays. A source that publishes less often states its cadence. */
const STALE_DAYS = 7;

/** The age in whole days of a price that is older than a week. Null: it is not. @param nowMs since the epoch */
export function staleDays(observedAt: string, nowMs: number): number | null {
  const days = Math.floor((nowMs - Date.parse(observedAt)) / DAY_MS);
  return days > STALE_DAYS ? days : null;
}

/** `55 days old`. */
export function staleText(days: number): string {
  return `${days.toLocaleString('en')} days old`;
}
