/** Bounds how much is under way at once. */

/** Runs work, at most `limit` pieces at a time, in the order in which it was asked for. */
export function concurrencyLimit(limit: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let free = limit;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A place goes straight to whoever waits longest, so that nobody can come in between.
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
