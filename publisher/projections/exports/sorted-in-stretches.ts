/** Sorts many values without keeping other tasks waiting. */

/** Sorting as many takes some milliseconds. */
const STRETCH = 4_096;

/** A merge sort, from stretches that are sorted at once. Stable. */
export async function sortedInStretches<Value>(
  values: readonly Value[],
  compare: (one: Value, other: Value) => number,
  yieldToEventLoop: () => Promise<void>,
): Promise<readonly Value[]> {
  let sorted: (readonly Value[])[] = [];
  for (let start = 0; start < values.length; start += STRETCH) {
    sorted.push(values.slice(start, start + STRETCH).sort(compare));
    await yieldToEventLoop();
  }
  while (sorted.length > 1) {
    const longer: (readonly Value[])[] = [];
    for (let next = 0; next < sorted.length; next += 2) {
      longer.push(await merged(sorted[next] ?? [], sorted[next + 1] ?? [], compare, yieldToEventLoop));
    }
    sorted = longer;
  }
  return sorted[0] ?? [];
}

async function merged<Value>(
  left: readonly Value[],
  right: readonly Value[],
  compare: (one: Value, other: Value) => number,
  yieldToEventLoop: () => Promise<void>,
): Promise<readonly Value[]> {
  const all: Value[] = [];
  for (let [one, other] = [0, 0]; one < left.length || other < right.length; ) {
    const isLeft =
      other === right.length || (one < left.length && compare(left[one] as Value, right[other] as Value) <= 0);
    all.push((isLeft ? left[one++] : right[other++]) as Value);
    if (all.length % STRETCH === 0) await yieldToEventLoop();
  }
  return all;
}
