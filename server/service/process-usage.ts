/** The processor time, memory and files of this process. */

export interface ProcessUsage {
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly residentBytes: number;
  /** Since the start of the process, of all its threads. */
  readonly cpuSeconds: number;
}

export function processUsage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return {
    startedAtMs: performance.timeOrigin,
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1e6,
  };
}

export type LoopDelays = readonly (readonly [quantile: string, seconds: number])[];

export const DELAY_RESOLUTION_MS = 20;
const QUANTILES = ['0.5', '0.99', '1'] as const;

/** @param delays a histogram in nanoseconds */
export function loopDelays(delays: { percentile(percentile: number): number; readonly count: number }): LoopDelays {
  return delays.count === 0 ? [] : QUANTILES.map((name) => [name, delays.percentile(Number(name) * 100) / 1e9]);
}
