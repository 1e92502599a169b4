/**
 * Puts back objects that the store has lost, damaged ones too (damaged-objects.ts). The ledger can make all of them
 * again, so an operator may delete them on purpose, at any time. Readers do not wait for it, unless there is nothing at all to serve.
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
 * Publications notice only the lost objects that they need. A look reads each name in the store, and two records or more
 * for each market: 1.4 s of CPU time for 20,000 markets. The first look after a start reads the published bytes too.
 */
export const LOOK_INTERVAL_MS = 60 * 60 * 1000;

/** If objects are lost while everything is published again, the cause may last. A loop would only use up the disk. */
const RETRY_MS = 10 * 60 * 1000;
const RETRY = `next try in ${RETRY_MS / 60_000} minutes`;

/**
 * Publishes before the first request is served, if the store shows nothing: at the first start, and after the store was
 * emptied. Then only a beginning of it: the publications after it fill the store. Returns the published HEAD. Errors as of
 * `publish`.
 *
 * @param onPublishing is called first if it publishes
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
  /** Searches the store in the background. Resolves to whether an object is lost: then publish. */
  look(): Promise<boolean>;
  /**
   * To be called with the error of a publication. Resolves to the time until the next try, in milliseconds; null if the
   * error does not mean that objects are lost.
   */
  failed(error: unknown): Promise<number | null>;
  /**
   * To be called alone, before a publication. If objects are lost, everything is marked to be published again, in
   * place.
   */
  prepare(): Promise<void>;
}

/**
 * @param report is called once for each time that objects are found lost, and if nothing can be marked
 * @param damage of the objects of these dependencies
 * @param readsBytes in the first look
 */
export function watchLostObjects(
  dependencies: PublisherDependencies,
  report: (what: string, cause: unknown) => void,
  damage: Pick<Damage, 'takeUntried'> | null = null,
  readsBytes = true,
): LostObjects {
  const { ledger, objects, nowMs } = dependencies;
  /** Since when objects are known to be lost, and how long to wait before everything is marked. Null: none is lost. */
  let lost: { readonly sinceMs: number; readonly waitMs: number } | null = null;
  let wasMarked = false;
  let wasRead = !readsBytes;

  /** Whether everything is being published again. */
  const isDoubtful = async () => (await ledger.get(HEAD_KEY))?.value.list.isDoubtful === true;
  const waitMs = () => (lost === null ? 0 : Math.max(0, lost.waitMs - Math.abs(nowMs() - lost.sinceMs)));

  async function found(what: string): Promise<true> {
    const isAgain = wasMarked && (await isDoubtful());
    if (lost !== null) return true;
    lost = { sinceMs: nowMs(), waitMs: isAgain ? RETRY_MS : 0 };
    report(isAgain ? `not everything is published again, ${RETRY}` : 'everything is published again', new Error(what));
    return true;
  }

  /** Whether the snapshot is lost, or an older copy of the objects has replaced the published ones. */
  async function isBehind(): Promise<boolean> {
    const head = await ledger.get(HEAD_KEY);
    // A doubtful list: everything is being published again.
    if (head === null || !head.value.applied || head.value.list.isDoubtful) return false;
    const shown = await objects.stat(SNAPSHOT);
    if ((shown?.metadata.generation ?? 0) >= head.revision) return false;
    return await found(
      shown === null ? `${SNAPSHOT} is lost` : 'the store shows an earlier generation than the ledger',
    );
  }

  /** While everything is being published again, damaged objects are mended too. */
  async function isDamaged(): Promise<boolean> {
    const head = await ledger.get(HEAD_KEY);
    if (damage === null || head === null || !head.value.applied || head.value.list.isDoubtful) return false;
    const untried = await damage.takeUntried((keys) => {
      const cause = new Error(`${describe(keys)}: delete the file, or put a copy back`);
      report('publishing everything again has not mended all', cause);
    });
    return untried.length > 0 && (await found(describe(untried)));
  }

  return {
    async look() {
      if ((await ledger.get(HEAD_KEY))?.value.list.isDoubtful !== false) return false;
      if (await isBehind()) return true;
      const keys = await findLostObjects(dependencies, { isRead: !wasRead });
      wasRead = true;
      if (keys.length === 0 || (await isDoubtful())) return false;
      return await found(describe(keys));
    },
    async failed(error) {
      if (!isLoss(error)) return null;
      await found((error as Error).message);
      return waitMs();
    },
    async prepare() {
      // Only the snapshot is looked for each time: it is missing whenever the whole store is.
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
