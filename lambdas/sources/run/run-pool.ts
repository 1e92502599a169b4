/** The runs that a process works on concurrently. A slow source occupies one place, and does not delay the others. */

/** The limit of concurrent runs: each may have an answer of 64 MiB in memory. */
const AT_ONCE = 4;

export class RunPool {
  readonly #running = new Map<string, Promise<void>>();

  /** Whether this process is working on the run. */
  has(run: string): boolean {
    return this.#running.has(run);
  }

  /** Starts the work when a place is free, and resolves then. The work must not reject. */
  async start(run: string, work: () => Promise<void>): Promise<void> {
    while (this.size >= AT_ONCE) await this.nextEnd();
    const done = work().finally(() => this.#running.delete(run));
    this.#running.set(run, done);
  }

  get size(): number {
    return this.#running.size;
  }

  /** Waits for the end of any one run. */
  async nextEnd(): Promise<void> {
    await Promise.race(this.#running.values());
  }

  /** Waits for the end of all runs. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
