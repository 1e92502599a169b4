/** The disk benchmark counts the bytes that a directory store takes. */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MeasuredObjects } from '../../bench/measured-objects.ts';
import { publish } from '../../publisher/publish.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const BLOCK_BYTES = 4_096;

test('its sum is that of the files, in blocks, after every generation', async () => {
  const folder = await temporaryFolder();
  const objects = new MeasuredObjects(await openDirectoryObjects(folder));
  const world = createWorld();
  const dependencies = dependenciesOn(world.ledger, objects, world.clock);
  await world.ingest(['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)));
  for (let day = 0; day < 6; day++) {
    await world.ingest([price('a', day, 5), price('e', day, 5)]);
    await publish(dependencies);
    const sizes = globSync(['public/**/*', 'store/objects/**/*'], { cwd: folder })
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => statSync(join(folder, path)).size);
    const blocks = sizes.map((size) => Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES);
    expect(objects.total).toBe(blocks.reduce((sum, size) => sum + size, 0));
    expect(objects.of('bundle')).toBe(0);
  }
});
