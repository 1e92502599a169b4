/** Orders and shares the work for each key of a store. */

/** Runs work for a key after all earlier work for it. Other keys do not wait. */
export function keyQueue(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const busy = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = busy.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    busy.set(key, mine);
    try {
      return await mine;
    } finally {
      if (busy.get(key) === mine) busy.delete(key);
    }
  };
}

/**
 * Runs work that answers all calls that wait for it, such as a sync: each call is answered by a run that begins after it. At most
 * one run of a key goes on at a time.
 */
export function sharedRuns(): (key: string, work: () => Promise<void>) => Promise<void> {
  const inTurn = keyQueue();
  const waiting = new Map<string, Promise<void>>();
  return (key, work) => {
    const shared = waiting.get(key);
    if (shared !== undefined) return shared;
    const run = inTurn(key, async () => {
      // The queue may call this at once, before the run is noted below.
      await null;
      waiting.delete(key);
      await work();
    });
    waiting.set(key, run);
    return run;
  };
}
