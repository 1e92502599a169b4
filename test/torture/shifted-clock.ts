/**
 * Loaded before the service (`--import`), in each of its threads: the wall clock is ahead by the milliseconds that a
 * file holds. Timers and `performance.now` keep their own clock, as they do when an administrator sets the time.
 */
import { readFileSync } from 'node:fs';

const path = process.env.TORTURE_CLOCK as string;
const Real = Date;
/** So that a busy loop does not read the file each time. */
const READ_EVERY_MS = 20;
let [aheadMs, readAtMs] = [0, Number.NEGATIVE_INFINITY];

function nowMs(): number {
  const elapsedMs = performance.now();
  if (elapsedMs - readAtMs > READ_EVERY_MS) {
    readAtMs = elapsedMs;
    aheadMs = Number(readFileSync(path, 'utf8'));
  }
  return Real.now() + aheadMs;
}

globalThis.Date = new Proxy(Real, {
  construct: (_, given: [], target) => Reflect.construct(Real, given.length === 0 ? [nowMs()] : given, target),
  apply: () => new Real(nowMs()).toString(),
  get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
});
