/** Does something in the background: when woken, and at intervals whatever happens, so that a lost wake-up costs little. */

export interface WakeLoop {
  /** Says that something is due. Any number of calls during one round lead to one more round. */
  wake(): void;
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
  readonly onError: (cause: unknown) => void;
}

/** Starts the loop; its timer keeps no process alive. */
export function startWakeLoop({ round, intervalMs, onError }: WakeLoopOptions): WakeLoop {
  const stopper = new AbortController();
  const stopping = stopper.signal;
  let running: Promise<void> | null = null;
  let due = false;

  async function run(): Promise<void> {
    while (due && !stopping.aborted) {
      due = false;
      await round(stopping).catch(onError);
    }
  }

  function wake(): void {
    due = true;
    if (stopping.aborted) return;
    running ??= run().finally(() => {
      running = null;
      if (due) wake();
    });
  }

  const timer = setInterval(wake, intervalMs);
  timer.unref();
  return {
    wake,
    async stop() {
      stopper.abort();
      clearInterval(timer);
      await running;
    },
  };
}
