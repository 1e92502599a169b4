/**
 * Removes what the copy does not reach any more, once no reader can hold a link to it: an object is kept for the cursor
 * lifetime after the first sweep that did not reach it. To be called between two rounds. An object that a killed round
 * left behind is found in the same way.
 */
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { isFormer } from '../../publisher/kernel/projection.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import type { MirrorCopy } from './copy.ts';
import { CopyReach, copiedKeys, isWhole, type ReachOptions } from './reached.ts';
import { type MirrorProgress, NO_PROGRESS } from './step-progress.ts';

/** When a sweep first did not reach a key, in milliseconds since the epoch. */
export type Unreached = Readonly<Record<string, number>>;

export interface SweepReport {
  readonly unreached: Unreached;
  readonly removed: number;
  /** Markets of the copy with a gap in their history. To be taken over again. */
  readonly broken: readonly string[];
}

/** Walks all objects; counts `copy.usedBytes` again. Reads heads of files, and manifests of exports. */
export async function sweepCopy(
  copy: MirrorCopy,
  before: Unreached,
  options: ReachOptions & { readonly progress?: MirrorProgress },
): Promise<SweepReport> {
  const { nowMs, progress = NO_PROGRESS } = options;
  progress.begin('sweep', null);
  const reach = await CopyReach.open(copy, options);
  const unreached: Record<string, number> = {};
  const broken: string[] = [];
  let [usedBytes, removed] = [0, 0];
  for await (const key of copiedKeys(copy, `${PUBLIC_PREFIX}/`)) {
    progress.did();
    const name = parsePublicKey(key);
    const head = await copy.objects.stat(key);
    if (head === null || (name === null && !isFormer(PROJECTORS, key))) continue;
    if (name?.kind === 'history' && !(await isWhole(copy, name.slug))) broken.push(name.slug);
    const sinceMs = before[key] ?? nowMs;
    const isKept = name !== null && (await reach.has(name));
    if (!isKept && nowMs - sinceMs >= PAGE_RETENTION_SECONDS * 1000) {
      await copy.remove(key);
      removed++;
      continue;
    }
    if (!isKept) unreached[key] = sinceMs;
    usedBytes += head.sizeBytes;
  }
  copy.usedBytes = usedBytes;
  return { unreached, removed, broken };
}
