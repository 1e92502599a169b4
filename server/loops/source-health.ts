/** The state of the fetched sources, for the health check and the metrics. */
import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { SOURCE_STATES } from '../../storage/records/sources.ts';

/** A run starts within a minute of its time, so a run that is this late was missed. */
const MISSED_AFTER_MS = 5 * 60 * 1000;

/** Moments in milliseconds since the epoch; null: never. */
export interface SourceHealth {
  readonly name: string;
  /** The number of failed runs since the last run that did not fail. */
  readonly failures: number;
  readonly lastRunMs: number | null;
  readonly lastSuccessMs: number | null;
  /** Null: the source is paused, or is running. */
  readonly nextRunMs: number | null;
  /** Whether a run has been due for five minutes and has not started. */
  readonly isMissed: boolean;
}

export async function readSourceHealth(ledger: Pick<Ledger, 'query'>, nowMs: number): Promise<readonly SourceHealth[]> {
  return (await readAll(ledger, SOURCE_STATES)).map(
    ({ sort, value: { failures, lastRun, lastSuccessAt, nextRunAt, run } }) => {
      const nextRunMs = run === null ? instantMs(nextRunAt) : null;
      return {
        name: sort,
        failures,
        lastRunMs: instantMs(lastRun?.finishedAt ?? null),
        lastSuccessMs: instantMs(lastSuccessAt),
        nextRunMs,
        isMissed: nextRunMs !== null && nowMs - nextRunMs > MISSED_AFTER_MS,
      };
    },
  );
}

function instantMs(instant: string | null): number | null {
  return instant === null ? null : Date.parse(instant);
}
