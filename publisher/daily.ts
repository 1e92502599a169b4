/** The daily files of projections, which are made outside of generations. */
import { Superseded } from './errors.ts';
import type { Projector } from './kernel/projection.ts';
import { PROJECTORS } from './projections.ts';

type Daily = NonNullable<Projector['daily']>;

/**
 * Calls `make` for each projection with daily files. A failure does not stop the others.
 *
 * @throws the first error, after all calls; Superseded only if there is no other error
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
