/**
 * What the store has lost is put back: it holds nothing that the ledger cannot make anew, and somebody may have deleted it for
 * just that. Readers do not wait for it, unless nothing at all is there to be served.
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
 * Publishes before anybody is served, where the store shows nothing: the first time, and where it was emptied. Returns what is
 * published. Errors as of `publish`.
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
  /** Looks through the store, beside whatever else is done. Resolves to whether anything is lost. */
  look(): Promise<boolean>;
  /** To be told what a publication has failed with. */
  failed(error: unknown): boolean;
  /** To be called alone, before a publication: if anything is lost, everything is marked to be published again, in place. */
  prepare(): Promise<void>;
}

/** @param report is told that something is lost */
export function watchLostObjects(
  dependencies: PublisherDependencies,
  report: (what: string, cause: unknown) => void,
): LostObjects {
  // Once in the life of a process: what is still lost after that needs a person.
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

/** An older copy of the objects may be in place of those that were published. */
async function isOfEarlier({ ledger, objects }: PublisherDependencies): Promise<boolean> {
  const head = await ledger.get(HEAD_KEY);
  // Without a bundle: HEAD was raised, and what is marked since then is on its way.
  if (head === null || !head.value.applied || head.value.bundle.key === '') return false;
  return ((await objects.stat(SNAPSHOT))?.metadata.generation ?? 0) < head.revision;
}

function isLoss(error: unknown): boolean {
  return error instanceof BundleLost || (error instanceof StorageCorrupt && !(error instanceof LedgerBehind));
}
