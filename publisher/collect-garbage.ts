/** The sweep of this version: kernel/sweep.ts explains it. */
import type { PublisherStorage } from './dependencies.ts';
import type { Projector } from './kernel/projection.ts';
import { type GarbageOptions, type GarbageReport, sweepObjects } from './kernel/sweep.ts';
import { PROJECTORS } from './projections.ts';

/** Does nothing while a generation is not applied: publish first. */
export async function collectGarbage(
  storage: PublisherStorage,
  options: GarbageOptions,
  projectors: readonly Projector[] = PROJECTORS,
): Promise<GarbageReport> {
  return await sweepObjects(storage, projectors, options);
}
