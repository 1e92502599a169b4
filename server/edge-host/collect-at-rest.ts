/**
 * Frees memory when a thread is idle. V8 collects garbage only while a program allocates. So without this, a service that waits
 * for hours after a publication would keep its garbage all that time: more than half of its memory.
 */
import { performance } from 'node:perf_hooks';
import { garbageCollector } from '../../storage/concurrency/garbage-collector.ts';

const CHECK_MS = 5_000;
/** A thread is idle if it runs code for less than this share of the time. */
const REST = 0.05;

/** Watches the calling thread for as long as it runs. One collection takes some ten milliseconds. */
export function collectAtRest(): void {
  const collect = garbageCollector();
  let before = performance.eventLoopUtilization();
  let hasWorked = true;
  const check = () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > REST) hasWorked = true;
    else if (hasWorked) {
      collect({ type: 'major', flavor: 'last-resort' });
      hasWorked = false;
      before = performance.eventLoopUtilization();
    }
  };
  setInterval(check, CHECK_MS).unref();
}
