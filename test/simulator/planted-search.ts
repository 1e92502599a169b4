/** Looks for a planted fault, seed by seed. */
import type { Planted } from './planted.ts';
import { simulate } from './simulate.ts';
import type { Violation } from './world.ts';

export interface Found extends Violation {
  readonly seed: number;
}

/** Null if it is not found within the number of seeds in the table. */
export async function findPlanted({ options, within, butFor }: Planted): Promise<Found | null> {
  for (let seed = 1; seed <= within; seed++) {
    const { violation } = await simulate(seed, options);
    if (violation !== null && violation.rule !== butFor) return { seed, ...violation };
  }
  return null;
}
