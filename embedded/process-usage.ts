/** What this process takes of the machine. */

export interface ProcessUsage {
  /** Since the epoch. */
  readonly startedAtMs: number;
  readonly residentBytes: number;
  /** Since its start, of all its threads. */
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
