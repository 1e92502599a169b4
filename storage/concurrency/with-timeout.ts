/** A time limit for work that cannot be stopped. */

/**
 * @returns the result of the work; rejects with `error()` when the time is over. The work then continues, and its outcome
 *   is unknown
 */
export async function withTimeout<Value>(work: Promise<Value>, ms: number, error: () => Error): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(error()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
