/** A mirror has the feeds, badges and embeds of its service, the markets that changed last, and the calendar; and takes no false ones. */
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { publish } from '../../../publisher/publish.ts';
import { TEST_LOG } from '../../publisher/log/test-log.ts';
import { market, price } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { changeWorld, publishedWorld, roundOf, servedBy } from './mirrored-world.ts';

const [MODIFIED, CHANGES] = ['public/api/v1/modified.csv', 'public/feeds/changes.atom'];
const FILES = [
  MODIFIED,
  CHANGES,
  'public/feeds/corrections.atom',
  'public/feeds/releases.ics',
  'public/feeds/markets/s.atom',
  'public/api/v1/sources.json',
  'public/api/v1/incidents.json',
  'public/feeds/incidents.atom',
];
const OF_MARKET = ['badges/s.svg', 'badges/s.json', 'embed/s.html', 'embed/s.json'].map((path) => `public/${path}`);
const READ_BASE_URL = 'https://data.example';
const cadence = { period: 'day', releaseTime: '15:00', graceSeconds: 60 } as const;
const source = { label: 'a test', url: 'https://example.com/', publisher: null, licence: null, attribution: null };
const expecting = { ...(market('s') as object), sources: [{ ...source, cadence }] } as IngestRecordInput;

async function followed() {
  const world = await publishedWorld(TEST_LOG, ['log', 'feeds', 'market-feeds', 'badges', 'embeds']);
  Object.assign(world.dependencies, { readBaseUrl: READ_BASE_URL });
  await world.ingest([expecting, price('s', 0, 1)]);
  await publish(world.dependencies);
  return world;
}

test('files follow the list', async () => {
  const world = await followed();
  const copied = openMemoryObjects();
  for (const change of [async () => {}, () => changeWorld(world)]) {
    await change();
    expect(await roundOf(world, copied)).toMatchObject({ state: 'current', findings: [] });
    for (const key of [...FILES, ...OF_MARKET])
      expect(servedBy(copied).get(key), key).toBe(servedBy(world.objects).get(key));
  }
});
