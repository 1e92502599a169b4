/**
 * Restores objects that the store has lost, and damaged ones (damaged-objects.ts). The ledger can make all of them again, so an
 * operator may delete them at any time. Readers do not wait for it, except when the store has nothing to serve.
 */
import { publicKey } from '../../contract/files/public-objects.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { BundleLost, LedgerBehind } from '../../publisher/errors.ts';
import { publish } from '../../publisher/publish.ts';
import { takeOverStore } from '../../publisher/repair/from-log/known-pages.ts';
import { findLostObjects } from '../../publisher/repair/lost-objects.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import { resume } from '../../publisher/repair/resume.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import { HEAD_KEY, type HeadValue } from '../../storage/records/publication.ts';
import { type Filling, MARKETS_OF_A_STEP } from '../service/filling.ts';
import type { Damage } from './damaged-objects.ts';

const SNAPSHOT = publicKey({ kind: 'snapshot' });

/**
 * Publications notice only the lost objects that they need. A search of a folder examines each file that was put there; the
 * first one after a start reads the bytes, too. The first search, and each search of a bucket, also compares the store with the
 * ledger, because an index may be lost together with files: at least two records for each market.
 */
export const LOOK_INTERVAL_MS = 60 * 60 * 1000;

/** Objects that are lost again during the repair may have a lasting cause. Repairs without a pause would fill the disk. */
const RETRY_MS = 10 * 60 * 1000;
const RETRY = `next try in ${RETRY_MS / 60_000} minutes`;

/**
 * Publishes before the first request is served, if the store shows nothing: at the first start, and after the store was
 * emptied. It publishes only a first part; later publications fill the store. Returns the published HEAD. Errors as of
 * `publish`.
 *
 * @param onPublishing called before it publishes
 */
export async function publishIfNothingIsShown(
  dependencies: PublisherDependencies,
  filling: Pick<Filling, 'begin' | 'published'>,
  onPublishing: () => void = () => undefined,
): Promise<HeadValue> {
  const { ledger, objects } = dependencies;
  await takeOverStore(dependencies);
  const head = await ledger.get(HEAD_KEY);
  const isFirst = head === null || (head.revision === 1 && !head.value.applied);
  const isNeeded = isFirst || (await objects.stat(SNAPSHOT)) === null;
  if (isNeeded) onPublishing();
  if (isFirst) {
    await publish(dependencies).catch(async (error: unknown) => {
      if (!isLoss(error)) throw error;
      await rebuild(dependencies);
    });
  } else if (isNeeded) {
    filling.begin();
    await resume(dependencies);
    const { marks, isMoreDue } = await publish({ ...dependencies, maxMarkedMarkets: MARKETS_OF_A_STEP });
    filling.published(marks, isMoreDue);
  }
  return (await ledger.get(HEAD_KEY))?.value as HeadValue;
}

export interface LostObjects {
  /** Searches the store in the background. Resolves to true if an object is lost: then publish. */
  look(): Promise<boolean>;
  /**
   * Call it with the error of a publication. Resolves to the time until the next attempt, in milliseconds; null if the error
   * does not mean that objects are lost.
   */
  failed(error: unknown): Promise<number | null>;
  /**
   * Call it before a publication, while none is running. If objects are lost, it marks everything to be published again, in
   * place.
   */
  prepare(): Promise<void>;
}

/**
 * @param report called each time that objects are found lost, and if marking fails
 * @param damage the damaged objects of these dependencies
 */
export function watchLostObjects(
  dependencies: PublisherDependencies,
  report: (what: string, cause: unknown) => void,
  damage: Pick<Damage, 'search' | 'takeUntried'> | null = null,
): LostObjects {
  const { ledger, objects, nowMs } = dependencies;
  /** The time when objects were found lost, and the time to wait before everything is marked. Null: none is lost. */
  let lost: { readonly sinceMs: number; readonly waitMs: number } | null = null;
  let wasMarked = false;
  let wasSearched = false;

  /** Whether everything is being published again. */
  const isDoubtful = async () => (await ledger.get(HEAD_KEY))?.value.list.isDoubtful === true;
  const waitMs = () => (lost === null ? 0 : Math.max(0, lost.waitMs - Math.abs(nowMs() - lost.sinceMs)));

  async function found(what: string): Promise<true> {
    const isAgain = wasMarked && (await isDoubtful());
    if (lost !== null) return true;
    lost = { sinceMs: nowMs(), waitMs: isAgain ? RETRY_MS : 0 };
    report(
      isAgain ? `objects are lost again during the repair, ${RETRY}` : 'publishing everything again',
      new Error(what),
    );
    return true;
  }

  /** Whether the snapshot is lost, or an older copy of the objects has replaced the published ones. */
  async function isBehind(): Promise<boolean> {
    const head = await ledger.get(HEAD_KEY);
    // While the list is doubtful, everything is already being published again.
    if (head === null || !head.value.applied || head.value.list.isDoubtful) return false;
    const shown = await objects.stat(SNAPSHOT);
    if ((shown?.metadata.generation ?? 0) >= head.revision) return false;
    return await found(
      shown === null ? `${SNAPSHOT} is lost` : 'the store shows an earlier generation than the ledger',
    );
  }

  /** Not called while everything is being published again, because that repairs damaged objects, too. */
  async function isDamaged(): Promise<boolean> {
    const head = await ledger.get(HEAD_KEY);
    if (damage === null || head === null || !head.value.applied || head.value.list.isDoubtful) return false;
    const untried = await damage.takeUntried((keys) => {
      const cause = new Error(`${describe(keys)}: delete the file, or put a copy back`);
      report('publishing everything again has not repaired all objects', cause);
    });
    return untried.length > 0 && (await found(describe(untried)));
  }

  return {
    async look() {
      if ((await ledger.get(HEAD_KEY))?.value.list.isDoubtful !== false) return false;
      if (await isBehind()) return true;
      const search = damage?.search ?? null;
      const isFirst = !wasSearched;
      await search?.(isFirst);
      wasSearched = true;
      if (await isDamaged()) return true;
      const keys = isFirst || search === null ? await findLostObjects(dependencies) : [];
      if (keys.length === 0 || (await isDoubtful())) return false;
      return await found(describe(keys));
    },
    async failed(error) {
      if (!isLoss(error)) return null;
      await found((error as Error).message);
      return waitMs();
    },
    async prepare() {
      // Each time, only the snapshot is checked: it is missing whenever the whole store is.
      if (lost === null && !(await isBehind())) await isDamaged();
      if (lost === null || waitMs() > 0) return;
      lost = { sinceMs: nowMs(), waitMs: RETRY_MS };
      try {
        await resume(dependencies);
        wasMarked = true;
        lost = null;
      } catch (error) {
        report(`publishing everything again failed, ${RETRY}`, error);
      }
    },
  };
}

function describe(keys: readonly string[]): string {
  const [first] = keys;
  return keys.length === 1
    ? `${first} is lost or damaged`
    : `${keys.length} objects are lost or damaged, such as ${first}`;
}

function isLoss(error: unknown): boolean {
  return error instanceof BundleLost || (error instanceof StorageCorrupt && !(error instanceof LedgerBehind));
}
