/** Bounds the number of tasks that run at once. */

/** Runs at most `limit` tasks at a time, in the order of the calls. */
export function concurrencyLimit(limit: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = limit;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place is passed directly to the longest waiter, so that a new call cannot take it.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
