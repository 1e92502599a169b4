/** The files that projections make once a day, apart from generations. */
import { Superseded } from './errors.ts';
import type { Projector } from './kernel/projection.ts';
import { PROJECTORS } from './projections.ts';

type Daily = NonNullable<Projector['daily']>;

/**
 * Does this for each projection with daily files. One that fails stops no other.
 *
 * @throws the first fault, when all are done; Superseded only if there is no other
 */
export async function eachDaily(make: (projection: string, daily: Daily) => Promise<void>): Promise<void> {
  const faults: unknown[] = [];
  for (const { name, daily } of PROJECTORS) {
    if (daily !== undefined) await make(name, daily).catch((fault: unknown) => faults.push(fault));
  }
  if (faults.length > 0) throw faults.find((fault) => !(fault instanceof Superseded)) ?? faults[0];
}

/** Undefined: the name is unknown. */
export function projectorOf(projection: string): Projector | undefined {
  return PROJECTORS.find(({ name }) => name === projection);
}
