/** A mirror shows the pages of its own version, whatever its service has. */
import { expect, test } from 'vitest';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { siteOf } from '../../../publisher/site.ts';
import { readerOf } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { folderWith, mirrorIn, publishedWorld } from './mirrored-world.ts';

const site = (files: Readonly<Record<string, string>>) => siteOf(new Map(Object.entries(files)));

test('the pages are put before the first answer, put back when they are lost, and go with a later version', async () => {
  const folder = await folderWith(openMemoryObjects());
  const world = await publishedWorld();
  await publish({
    ...world.dependencies,
    site: site({ 'index.html': 'of the service', 'llms.txt': 'of the service' }),
  });
  const open = (files: Readonly<Record<string, string>>) => mirrorIn(folder, world, { site: site(files) });
  const shown = async (url: string) => {
    const { status, body } = await readerOf(folder.objects)(url);
    return status === 200 ? Buffer.from(body).toString() : status;
  };

  const mirror = await open({ 'index.html': 'own', 'docs/old.html': 'old' });
  expect((await mirror.follow()).state).toBe('current');
  expect([await shown('/'), await shown('/docs/old'), await shown('/llms.txt')]).toEqual(['own', 'old', 404]);
  const present = await folder.objects.stat('public/index.html');
  if (present !== null) await folder.objects.delete('public/index.html', present.etag);
  world.clock.nowMs += 6 * 3600 * 1000;
  await mirror.follow();
  expect(await shown('/')).toBe('own');

  const later = await open({ 'index.html': 'newer' });
  await later.follow();
  expect([await shown('/'), await shown('/docs/old')]).toEqual(['newer', 'old']);
  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000;
  await later.follow();
  expect([await shown('/'), await shown('/docs/old')]).toEqual(['newer', 404]);
});
