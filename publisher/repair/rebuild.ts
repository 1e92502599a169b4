/** Rebuilding what is published from the ledger: after losing objects, after a restore, or after a lost bundle. */
import type { PublisherDependencies } from '../dependencies.ts';
import { publish } from '../publish.ts';
import { resume } from './resume.ts';

export interface RebuildOutcome {
  /** The newest generation. */
  readonly generation: number;
  /** Markets that could not be rendered: each needs a repair of its own. */
  readonly putOff: readonly string[];
}

/**
 * Publishes everything again, in place, by ordinary generations: what is missing from the store is put back, and so are bodies
 * that have other bytes or metadata than the ledger gives them. May be called again. Nothing replaces an immutable page: one
 * that is damaged stays until somebody deletes it, and `verify` finds it. Errors as of `publish`.
 */
export async function rebuild(dependencies: PublisherDependencies): Promise<RebuildOutcome> {
  await resume(dependencies);
  for (;;) {
    const { generation, isMoreDue, putOff } = await publish(dependencies);
    if (!isMoreDue) return { generation, putOff: putOff.map(({ slug }) => slug) };
  }
}
