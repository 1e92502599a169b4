/** How late an event loop runs. */

export type LoopDelays = readonly (readonly [quantile: string, seconds: number])[];

export const DELAY_RESOLUTION_MS = 20;
const QUANTILES = ['0.5', '0.99', '1'] as const;

/** @param delays a histogram in nanoseconds */
export function loopDelays(delays: { percentile(percentile: number): number; readonly count: number }): LoopDelays {
  return delays.count === 0 ? [] : QUANTILES.map((name) => [name, delays.percentile(Number(name) * 100) / 1e9]);
}
