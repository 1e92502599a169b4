/** A day after the last generation, a sweep must leave exactly what readers can reach. */
import { parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { packedGeneration } from '../../publisher/kernel/packed-object.ts';
import { isMarket, publishedIn } from './facts.ts';
import { chainOf, isGone } from './published.ts';
import { isFileInUse, isProjected } from './published-files.ts';
import type { World } from './world.ts';

export function checkSwept(world: World): void {
  const { objects, items } = world;
  const { generation, layout, projections } = publishedIn(items);
  const reached = new Set<string>(layout === null ? [] : [layout]);
  for (const [key, entry] of objects) {
    const name = parsePublicKey(key);
    if (name !== null && 'tile' in name) {
      if (world.watch.log.isTileInUse(key)) reached.add(key);
      continue;
    }
    if (name === null || 'cursor' in name || ('slug' in name && !isMarket(items, name.slug))) continue;
    if (isGone(entry) ? !isProjected(name.kind, projections) : !isFileInUse(objects, name, projections)) continue;
    reached.add(key);
    for (const page of chainOf(objects, key, entry)) reached.add(page.key);
  }
  for (const key of objects.keys()) {
    // Leftovers of a rival for the newest generation are swept after the next generation.
    if (!reached.has(key) && (packedGeneration(key) ?? 0) < generation)
      world.fail('never-swept', `${key} is still there`);
  }
  const list = publicKey({ kind: 'market-list' });
  if (!reached.has(list)) world.fail('never-swept', `${list} is gone`);
}
