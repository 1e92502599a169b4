/**
 * The only source of time and order in a simulated world. All events are in one queue. The next event runs when all code
 * that the last one resumed waits again. There are no timers and no I/O, so the order follows from the seed.
 */
import type { Random } from './random.ts';

/** More than any finite world needs: ends a world that never stops. */
const MOST_EVENTS = 500_000;

interface Event {
  readonly atMs: number;
  /** Orders events of the same moment. */
  readonly tie: number;
  readonly run: () => void;
}

export class Scheduler {
  readonly #random: Random;
  readonly #heap: Event[] = [];
  #elapsedMs = 0;
  #events = 0;
  #stopped = false;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Simulated time since the beginning of the world. */
  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, run: () => void): void {
    this.#push({ atMs: this.#elapsedMs + delayMs, tie: this.#random.uint32(), run });
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** No further event runs. */
  stop(): void {
    this.#stopped = true;
  }

  /** Runs all events. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        const next = this.#stopped ? undefined : this.#pop();
        if (next === undefined) {
          resolve();
          return;
        }
        this.#elapsedMs = next.atMs;
        try {
          if (++this.#events > MOST_EVENTS) throw new Error(`the world does not come to rest in ${MOST_EVENTS} events`);
          next.run();
        } catch (error) {
          reject(error);
          return;
        }
        queueMicrotask(settle);
      };
      // A tick that a microtask asks for runs when the queue of microtasks is empty.
      const settle = (): void => process.nextTick(step);
      queueMicrotask(settle);
    });
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (!isBefore(heap[child] as Event, last)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

function isBefore(left: Event, right: Event): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.tie < right.tie);
}
