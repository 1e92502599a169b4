/** The file of the markets that have changed last: its order, and the faults that only a walk of the list finds. */
import { expect, test } from 'vitest';
import { lastModified, MODIFIED_ROWS_MAX, type ModifiedRow, modifiedCsv } from '../../contract/bodies/modified.ts';
import { PUBLIC_OBJECTS } from '../../contract/files/public-objects.ts';
import { modified } from '../../publisher/projections/modified/projection.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import type { CheckContext, ReadListing } from '../../publisher/verify/projection-check.ts';
import { createWorld, market, price, type World } from './world.ts';

const URL = '/api/v1/modified.csv';
const SLUGS = ['a', 'b', 'c', 'd', 'e'];

/** Two list pages. One market after the other has changed, `a` first. */
async function modifiedWorld(): Promise<World> {
  const world = createWorld().with({ projections: new Set(['feeds']) });
  await world.ingest(SLUGS.map((slug) => market(slug)));
  for (const slug of SLUGS) {
    world.clock.nowMs += 1000;
    await world.ingest([price(slug, 0, 100)]);
  }
  await world.publish();
  return world;
}

const linesOf = async (world: World) => (await world.text(URL)).split('\r\n');

test('the market that changed last comes first', async () => {
  const world = await modifiedWorld();
  expect((await linesOf(world)).map((line) => line.split(',')[0])).toEqual(['slug', 'e', 'd', 'c', 'b', 'a', '']);
  world.clock.nowMs += 1000;
  await world.ingest([price('b', 1, 200)]);
  await world.publish();
  expect((await linesOf(world))[1]).toBe(`b,2,${new Date(world.clock.nowMs).toISOString()}`);
  expect(await world.findings()).toEqual([]);
});

test('verify finds that the newest change of a long list is missing', async () => {
  const rows = Array.from({ length: MODIFIED_ROWS_MAX + 1 }, (_, index): ModifiedRow => {
    return { slug: `m${index}`, revision: 1, updatedAt: new Date(1000 * index).toISOString() };
  });
  const found = async (shown: readonly ModifiedRow[]) => {
    const body = Buffer.from(modifiedCsv(lastModified(shown)));
    const headers = new Map([['content-type', PUBLIC_OBJECTS.modified.contentType]]);
    const context = { rule: 'file', log: null, read: async () => ({ status: 200, headers, body }) };
    const check = await modified.check?.(context as unknown as CheckContext);
    for (const row of rows) check?.item?.(row as Parameters<NonNullable<typeof check.item>>[0]);
    const findings = new Findings();
    await check?.ofList?.({ head: null, entries: rows as unknown as ReadListing['entries'] }, findings);
    return findings.all;
  };
  expect(await found(rows)).toEqual([]);
  expect(await found(rows.slice(0, -1))).toMatchObject([{ url: URL, rule: 'file' }]);
});
