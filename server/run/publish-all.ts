/** Publishes until nothing is due. */
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { type LostObjects, publishIfNothingIsShown } from '../folder/lost-objects.ts';

/** Readers see nothing of a run that was killed: the files are there, or they are not. */
const NO_FILLING = { begin: () => {}, published: () => {} };

/**
 * Puts back public files that are lost, or that another program has changed.
 *
 * @param work sets the refresh marks that a publication asks for
 * @returns markets and projections that could not be published
 */
export async function publishAll(
  dependencies: PublisherDependencies,
  lost: LostObjects,
  work: () => Promise<void>,
): Promise<readonly string[]> {
  await publishIfNothingIsShown(dependencies, NO_FILLING);
  await lost.look();
  let outcome = await publishOnce(dependencies, lost);
  while (outcome.isMoreDue || outcome.asksForRefresh) {
    if (outcome.asksForRefresh) await work();
    outcome = await publishOnce(dependencies, lost);
  }
  // The run ends with the list, whatever its cadence is.
  if (outcome.listDueAtMs !== null) outcome = await publishOnce({ ...dependencies, listEverySeconds: () => 0 }, lost);
  return outcome.deferred.map(({ slug }) => slug);
}

async function publishOnce(dependencies: PublisherDependencies, lost: LostObjects): Promise<PublishOutcome> {
  await lost.prepare();
  try {
    return await publish(dependencies);
  } catch (error) {
    // Zero: everything is published again at once. A longer time: that was tried already.
    if ((await lost.failed(error)) !== 0) throw error;
    await lost.prepare();
    return await publish(dependencies);
  }
}
