/** Does something in the background: when woken, and at intervals whatever happens, so that a lost wake-up costs little. */

export interface WakeLoop {
  /** Says that something is due. Any number of calls during one round lead to one more round. */
  wake(): void;
  /** Wakes it in so many milliseconds, at once where that is in the past; of several calls the earliest counts. */
  wakeIn(durationMs: number): void;
  /** Waits for the end of the rounds that are under way or due. */
  settled(): Promise<void>;
  /** Lets the round under way finish, and starts no other. */
  stop(): Promise<void>;
}

export interface WakeLoopOptions {
  /**
   * One round. What it rejects with is reported; the next interval tries again. `stopping` is aborted when the loop is being
   * stopped: a round of several steps may leave out those that are left.
   */
  readonly round: (stopping: AbortSignal) => Promise<void>;
  readonly intervalMs: number;
  /** A round begins no sooner than this after the one before began; the first one begins at once. Default: 0. */
  readonly paceMs?: number;
  readonly onError: (cause: unknown) => void;
}

/** Starts the loop; its timers keep no process alive. */
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
      // What was due before the pace let it begin waits for its timer.
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
