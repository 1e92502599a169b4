/** Measures in rounds: contestants take turns, so that other work on the machine slows all of them equally. */

/** Runs every contestant once a round, A B A B …; returns the results by contestant, in the order of rounds. */
export async function interleave<Name extends string>(
  rounds: number,
  contestants: { readonly [Key in Name]: (round: number) => number | Promise<number> },
): Promise<{ readonly [Key in Name]: readonly number[] }> {
  const names = Object.keys(contestants) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) samples[name].push(await contestants[name](round));
  }
  return samples;
}

/** How long `work` takes, in milliseconds. */
export async function elapsedMs(work: () => unknown): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

/** The processor time that `work` takes in this process, all threads together, in milliseconds. */
export async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The quantile of the samples for this share; 1 gives the largest. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** For each round, the ratio of one contestant's sample to another's. */
export function ratios(samples: readonly number[], floor: readonly number[]): readonly number[] {
  return samples.map((sample, round) => sample / (floor[round] as number));
}
