/**
 * Loaded into a process, or preloaded into a server, whose parent then asks: reports the longest time that the event loop was blocked since the
 * last report. By the clock, which includes other processes of the machine and the disk; and in processor time of the
 * thread, which includes only the work of the server.
 *
 * A preloaded module is loaded into each thread. The main thread reports for the thread of readers too.
 */
import { once } from 'node:events';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

export interface LoopReport {
  readonly longestMs: number;
  readonly longestCpuMs: number;
  /** Of all stretches, one in a hundred was longer. */
  readonly p99Ms: number;
  readonly p99CpuMs: number;
  /** One in a thousand. */
  readonly p999CpuMs: number;
}

export interface ServerReport {
  /** The main thread. */
  readonly core: LoopReport;
  readonly readers: LoopReport;
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

/** Since the last report. */
export function takeLoopReport(): LoopReport {
  const ms = Float64Array.from(stretches, (stretch) => stretch.ms).sort();
  const cpu = Float64Array.from(stretches, (stretch) => stretch.cpuMs).sort();
  stretches = [];
  return {
    longestMs: quantile(ms, 1),
    longestCpuMs: quantile(cpu, 1),
    p99Ms: quantile(ms, 0.99),
    p99CpuMs: quantile(cpu, 0.99),
    p999CpuMs: quantile(cpu, 0.999),
  };
}

const asking = new BroadcastChannel('loop-watch');
const answering = new BroadcastChannel('loop-watch-report');
for (const channel of [asking, answering]) channel.unref();

if (isMainThread) {
  process.on('message', async (message) => {
    // The server's own processes have messages of their own.
    if (message !== 'report') return;
    const answer = once(answering as unknown as EventTarget, 'message');
    asking.postMessage('report');
    const [{ data: readers }] = (await answer) as [{ data: LoopReport }];
    process.send?.({ core: takeLoopReport(), readers } satisfies ServerReport);
  });
  // The parent's end is seen by the signal that it sends.
  process.channel?.unref();
} else {
  asking.onmessage = () => answering.postMessage(takeLoopReport());
}
