/**
 * Repetition in tests: a sample in a quick run; in CI and with `npm run test:slow`, every fault at every place where it
 * differs. A random property runs 10 to 60 times in both. More found nothing in months: the simulator tries hundreds of
 * worlds in each run, and `npm run simulate` as many as are asked for.
 */
const isThorough = process.env.TIDEMARK_THOROUGH === 'true';

export function runs<Value = number>(quick: Value, thorough: Value): Value {
  return isThorough ? thorough : quick;
}

/** Every n-th item, beginning with number `from`; all items in a thorough run. */
export function sampled<Item>(items: readonly Item[], n: number, from = 0): readonly Item[] {
  return isThorough ? items : items.filter((_, index) => index % n === from % n);
}
