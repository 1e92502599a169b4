/** A limit of time for work that cannot be stopped. */

/** @returns as the work does, or rejects with the error once the time is over. The work goes on, and its outcome is unknown */
export async function withTimeout<Value>(work: Promise<Value>, ms: number, error: () => Error): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(error()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
