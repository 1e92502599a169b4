/**
 * The only source of time and order in a simulated world. Everything that happens is an event of one queue; the next one
 * runs when all code that the last one has set free waits again. No timer, no I/O: what runs when follows from the seed.
 */
import type { Random } from './random.ts';

/** More than any world that comes to rest: what goes on for ever ends here. */
const MOST_EVENTS = 500_000;

interface Event {
  readonly atMs: number;
  /** Decides between events of the same moment. */
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

  /** Simulated time since the world began. */
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

  /** Runs events until none is left. */
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
      // A tick that is asked for by a microtask runs when the queue of microtasks is empty.
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
