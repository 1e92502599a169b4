/**
 * Puts back objects that the store has lost. The ledger can make all of them again, so an operator may delete them on
 * purpose. Readers do not wait for it, unless there is nothing at all to serve.
 */
import { publicKey } from '../contract/public-objects.ts';
import type { PublisherDependencies } from '../publisher/dependencies.ts';
import { BundleLost, LedgerBehind } from '../publisher/errors.ts';
import { publish } from '../publisher/publish.ts';
import { findLostObjects } from '../publisher/repair/lost-objects.ts';
import { rebuild } from '../publisher/repair/rebuild.ts';
import { resume } from '../publisher/repair/resume.ts';
import { StorageCorrupt } from '../storage/errors.ts';
import { HEAD_KEY, type HeadValue } from '../storage/records/publication.ts';

const SNAPSHOT = publicKey({ kind: 'snapshot' });

/**
 * Publishes before the first request is served, if the store shows nothing: at the first start, and after the store was
 * emptied. Returns the published HEAD. Errors as of `publish`.
 */
export async function publishIfNothingIsShown(dependencies: PublisherDependencies): Promise<HeadValue> {
  const { ledger, objects } = dependencies;
  const head = await ledger.get(HEAD_KEY);
  const isFirst = head === null || (head.revision === 1 && !head.value.applied);
  if (isFirst) {
    await publish(dependencies).catch(async (error: unknown) => {
      if (!isLoss(error)) throw error;
      await rebuild(dependencies);
    });
  } else if ((await objects.stat(SNAPSHOT)) === null) await rebuild(dependencies);
  return (await ledger.get(HEAD_KEY))?.value as HeadValue;
}

export interface LostObjects {
  /** Searches the store in the background. Resolves to whether an object is lost. */
  look(): Promise<boolean>;
  /** To be called with the error of a publication. Returns whether the error means that objects are lost. */
  failed(error: unknown): boolean;
  /**
   * To be called alone, before a publication. If objects are lost, everything is marked to be published again, in
   * place.
   */
  prepare(): Promise<void>;
}

/** @param report is called when objects are lost */
export function watchLostObjects(
  dependencies: PublisherDependencies,
  report: (what: string, cause: unknown) => void,
): LostObjects {
  // Once in the life of a process: if objects are lost after that, an operator must look.
  let state: 'unknown' | 'lost' | 'resumed' = 'unknown';
  const found = (what: string): boolean => {
    if (state !== 'unknown') return false;
    state = 'lost';
    report('the store is published again, in place', new Error(what));
    return true;
  };
  return {
    async look() {
      if (await isOfEarlier(dependencies)) return found('it shows an earlier generation than the ledger');
      const lost = await findLostObjects(dependencies);
      return lost.length > 0 && found(`${lost.length} objects are lost, ${lost[0]} for one`);
    },
    failed: (error) => isLoss(error) && found((error as Error).message),
    async prepare() {
      if (state !== 'lost') return;
      await resume(dependencies);
      state = 'resumed';
    },
  };
}

/** An older copy of the objects may have replaced the published ones. */
async function isOfEarlier({ ledger, objects }: PublisherDependencies): Promise<boolean> {
  const head = await ledger.get(HEAD_KEY);
  // Without a bundle, HEAD was raised: the marked markets are still being published.
  if (head === null || !head.value.applied || head.value.bundle.key === '') return false;
  return ((await objects.stat(SNAPSHOT))?.metadata.generation ?? 0) < head.revision;
}

function isLoss(error: unknown): boolean {
  return error instanceof BundleLost || (error instanceof StorageCorrupt && !(error instanceof LedgerBehind));
}
