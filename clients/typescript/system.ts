/**
 * The only file of this client that uses the clock, randomness and the network of the machine. Each is read when it is used,
 * never at import, and each can be replaced by an option.
 */

/** All functions of the machine that the client needs. */
export interface System {
  readonly fetch: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** A new idempotency key, which cannot be guessed. */
  readonly newKey: () => string;
  /** Rejects with the reason of the signal when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const THIS_SYSTEM: System = {
  fetch: (...request) => fetch(...request),
  nowMs: () => Date.now(),
  random: () => Math.random(),
  newKey: () => crypto.randomUUID(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
