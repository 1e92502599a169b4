/** Runs a background task when it is woken, and at intervals, so that a lost wake-up costs little. */

export interface WakeLoop {
  /** Reports that work is due. Several calls during one round cause one more round. */
  wake(): void;
  /** Wakes the loop in this many milliseconds; at once for a negative number. The earliest of several calls counts. */
  wakeIn(durationMs: number): void;
  /** Waits for the end of all rounds that are running or due. */
  settled(): Promise<void>;
  /** Lets the current round finish, and starts no other round. */
  stop(): Promise<void>;
}

export interface WakeLoopOptions {
  /**
   * One round. If it rejects, the error is reported, and the next interval tries again. `stopping` is aborted when the loop is
   * stopped, so that a round of several steps can skip the rest.
   */
  readonly round: (stopping: AbortSignal) => Promise<void>;
  readonly intervalMs: number;
  /** The least time between the beginnings of two rounds; the first round begins at once. Default: 0. */
  readonly paceMs?: number;
  readonly onError: (cause: unknown) => void;
}

/** Starts the loop. Its timers keep no process alive. */
export function startWakeLoop({ round, intervalMs, paceMs = 0, onError }: WakeLoopOptions): WakeLoop {
  const stopper = new AbortController();
  const stopping = stopper.signal;
  let running: Promise<void> | null = null;
  let due = false;
  let begunAtMs = Number.NEGATIVE_INFINITY;
  let later: { readonly timer: NodeJS.Timeout; readonly atMs: number } | null = null;

  async function run(): Promise<void> {
    while (due && !stopping.aborted) {
      const waitMs = begunAtMs + paceMs - performance.now();
      if (waitMs > 0) return wakeIn(waitMs);
      due = false;
      begunAtMs = performance.now();
      await round(stopping).catch(onError);
    }
  }

  function wake(): void {
    due = true;
    if (stopping.aborted || running !== null) return;
    running = run().finally(() => {
      running = null;
      // If the pace delays a round, its timer starts it.
      if (due && later === null) wake();
    });
  }

  function wakeIn(durationMs: number): void {
    const atMs = performance.now() + durationMs;
    if (stopping.aborted || (later !== null && later.atMs <= atMs)) return;
    if (later !== null) clearTimeout(later.timer);
    const timer = setTimeout(
      () => {
        later = null;
        wake();
      },
      Math.max(0, durationMs),
    );
    later = { timer: timer.unref(), atMs };
  }

  const timer = setInterval(wake, intervalMs);
  timer.unref();
  return {
    wake,
    wakeIn,
    async settled() {
      await running;
    },
    async stop() {
      stopper.abort();
      clearInterval(timer);
      if (later !== null) clearTimeout(later.timer);
      await running;
    },
  };
}
