/** A day after the last generation, a sweep must leave exactly what readers can reach. */
import { cursorGeneration } from '../../contract/files/cursors.ts';
import { parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { packedGeneration } from '../../publisher/kernel/files/packed-object.ts';
import { isFileRecorded, isMarket, publishedIn } from './facts.ts';
import { chainOf, isGone } from './published.ts';
import { isFile, isFileInUse, isProjected } from './published-files.ts';
import type { World } from './world.ts';

export function checkSwept(world: World): void {
  const { objects, items } = world;
  const { generation, layout, projections, isLogDoubtful } = publishedIn(items);
  const reached = new Set<string>(layout === null ? [] : [layout]);
  for (const [key, entry] of objects) {
    const name = parsePublicKey(key);
    if (name !== null && 'tile' in name) {
      if (isLogDoubtful || world.watch.log.isTileInUse(key)) reached.add(key);
      continue;
    }
    if (name === null || 'cursor' in name || ('slug' in name && !isMarket(items, name.slug))) continue;
    // A restore has made the history of a recorded file shorter.
    const isInUse = isFileInUse(objects, name, projections) || (isFile(name.kind) && isFileRecorded(items, name));
    if (isGone(entry) ? !isProjected(name.kind, projections) : !isInUse) continue;
    reached.add(key);
    for (const page of chainOf(objects, key, entry)) reached.add(page.key);
  }
  for (const key of objects.keys()) {
    if (!reached.has(key) && !mayBeInPreparation(key, generation)) world.fail('never-swept', `${key} is still there`);
  }
  const list = publicKey({ kind: 'market-list' });
  if (!reached.has(list)) world.fail('never-swept', `${list} is gone`);
}

/**
 * A sweep cannot tell what a generation has left that was given up from what one in preparation has put. So it waits for
 * the next commit.
 */
function mayBeInPreparation(key: string, newest: number): boolean {
  const name = parsePublicKey(key);
  if (name !== null && 'cursor' in name) return cursorGeneration(name.cursor) > newest;
  return (packedGeneration(key) ?? 0) >= newest;
}
