/** Holds writers back between two writes. */

export interface Gate {
  /** So many writers will pass. */
  enter(writers: number): void;
  /** A writer has ended. */
  leave(): void;
  /** Closes, and resolves when every writer waits here. */
  close(): Promise<void>;
  open(): void;
  /** Waits while it is closed. */
  pass(): Promise<void>;
}

export function createGate(): Gate {
  let [writers, waiting] = [0, 0];
  let opened: PromiseWithResolvers<void> | null = null;
  let full: PromiseWithResolvers<void> | null = null;
  const look = () => {
    if (waiting >= writers) full?.resolve();
  };
  return {
    enter(count) {
      writers += count;
    },
    leave() {
      writers--;
      look();
    },
    async close() {
      opened = Promise.withResolvers();
      full = Promise.withResolvers();
      look();
      await full.promise;
    },
    open() {
      opened?.resolve();
      opened = null;
    },
    async pass() {
      if (opened === null) return;
      waiting++;
      look();
      await opened.promise;
      waiting--;
    },
  };
}
