/** Orders the work for each key of a store. */

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
