/** Publishes all objects again from the ledger: after a loss of objects, a restore, or the loss of a bundle. */
import type { PublisherDependencies } from '../dependencies.ts';
import { publish } from '../publish.ts';
import { resume } from './resume.ts';

export interface RebuildOutcome {
  /** The newest generation. */
  readonly generation: number;
  /** Markets that could not be rendered. Each needs its own repair. */
  readonly deferred: readonly string[];
}

/**
 * Publishes everything again, in place, by ordinary generations. A missing object is put again, and so is a head body whose
 * bytes or metadata differ from the ledger's. May be repeated. An immutable page is never replaced: a damaged page stays
 * until it is deleted by hand, and `verify` finds it. Throws the errors of `publish`.
 */
export async function rebuild(dependencies: PublisherDependencies): Promise<RebuildOutcome> {
  await resume(dependencies);
  for (;;) {
    const { generation, isMoreDue, deferred } = await publish(dependencies);
    if (!isMoreDue) return { generation, deferred: deferred.map(({ slug }) => slug) };
  }
}
