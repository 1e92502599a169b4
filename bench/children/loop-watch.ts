/**
 * To be preloaded into a server: says, whenever its parent asks, how long the event loop was held up at most since it was last
 * asked. By the clock, which counts what other processes of the machine take and what a disk does; and in processor time of
 * the thread, which counts nothing but the work of the server.
 */
export interface LoopReport {
  readonly longestMs: number;
  readonly longestCpuMs: number;
  /** Of all stretches, one in a hundred was longer. */
  readonly p99Ms: number;
  readonly p99CpuMs: number;
}

let stretches: { readonly ms: number; readonly cpuMs: number }[] = [];
let before = { ms: performance.now(), cpuMs: cpuMs() };

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

setInterval(() => {
  const now = { ms: performance.now(), cpuMs: cpuMs() };
  stretches.push({ ms: now.ms - before.ms, cpuMs: now.cpuMs - before.cpuMs });
  before = now;
}, 1).unref();

function quantile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

process.on('message', () => {
  const ms = Float64Array.from(stretches, (stretch) => stretch.ms).sort();
  const cpu = Float64Array.from(stretches, (stretch) => stretch.cpuMs).sort();
  stretches = [];
  const report: LoopReport = {
    longestMs: quantile(ms, 1),
    longestCpuMs: quantile(cpu, 1),
    p99Ms: quantile(ms, 0.99),
    p99CpuMs: quantile(cpu, 0.99),
  };
  process.send?.(report);
});
// The parent's end is seen by the signal that it sends.
process.channel?.unref();
