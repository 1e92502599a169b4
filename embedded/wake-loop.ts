/** Does something in the background: when woken, and at intervals whatever happens, so that a lost wake-up costs little. */

export interface WakeLoop {
  /** Says that something is due. Any number of calls during one round lead to one more round. */
  wake(): void;
  /** Lets the round under way finish, and starts no other. */
  stop(): Promise<void>;
}

export interface WakeLoopOptions {
  /** One round. What it rejects with is reported; the next interval tries again. */
  readonly round: () => Promise<void>;
  readonly intervalMs: number;
  readonly onError: (cause: unknown) => void;
}

/** Starts the loop; its timer keeps no process alive. */
export function startWakeLoop({ round, intervalMs, onError }: WakeLoopOptions): WakeLoop {
  let running: Promise<void> | null = null;
  let due = false;
  let stopped = false;

  async function run(): Promise<void> {
    while (due && !stopped) {
      due = false;
      await round().catch(onError);
    }
  }

  function wake(): void {
    due = true;
    if (stopped) return;
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
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
