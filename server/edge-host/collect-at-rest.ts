/**
 * Gives memory back when a thread has nothing more to do. V8 collects garbage only while a program allocates. So a service that has
 * published, and then waits for hours, would keep everything that its last work left behind: more than half of its memory.
 */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const CHECK_MS = 5_000;
/** The share of the time in which a thread that rests runs any code. */
const REST = 0.05;

type Collect = (options?: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** A function of V8 that is only there if a flag asks for it, in contexts made after that. */
export function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}

/** Watches the thread that calls it, as long as the thread runs. A collection takes some ten milliseconds. */
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
