/** What a new projection gets from its folder and its line: planning, sweep, verify and OpenAPI. */
import { expect, test } from 'vitest';
import { openApiDocument } from '../../../contract/openapi/openapi.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { PROJECTORS } from '../../../publisher/projections.ts';
import { publish } from '../../../publisher/publish.ts';
import { staticBodies } from '../../../publisher/static-bodies.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { createWorld, market, SMALL_PAGES, type World } from '../world.ts';
import { exercise, NAMES_URL } from './exercise.ts';

const LIST = [...PROJECTORS, exercise];

/** The router of the CDN does not know the path: a host of plain files does. */
function plainReader(world: World): PublicReader {
  const routed = world.read;
  return async (url, headers) => {
    if (url !== NAMES_URL) return await routed(url, headers);
    const found = await world.objects.get(`public${url}`);
    const isFound = found.kind === 'found';
    return { status: isFound ? 200 : 404, headers: new Map(), body: isFound ? found.body : new Uint8Array() };
  };
}

async function findingsOf(world: World) {
  const options = { pageSizes: SMALL_PAGES, settled: true, projectors: LIST };
  return (await verify(plainReader(world), options)).findings;
}

const namesIn = async (world: World) => Buffer.from((await plainReader(world)(NAMES_URL)).body).toString();

test('it is planned with the list, in the same generation, and costs nothing when nothing changes', async () => {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd', 'e'].map((slug) => market(slug)));
  await publish(world.dependencies, LIST);
  expect(await namesIn(world)).toBe('Market a\nMarket b\nMarket c\nMarket d\nMarket e\n');
  expect((await world.ledger.get(HEAD_KEY))?.value.projections?.exercise).toMatch(/^[0-9a-f]{64}$/);
  expect(await publish(world.dependencies, LIST)).toMatchObject({ kind: 'unchanged' });
  await world.ingest([market('bb')]);
  await publish(world.dependencies, LIST);
  expect(await namesIn(world)).toContain('Market bb\n');
  expect(await findingsOf(world)).toEqual([]);
});

test('verify finds a file that is not right; the sweep keeps its file, and removes it when its state is gone', async () => {
  const world = createWorld();
  await world.ingest([market('a')]);
  await publish(world.dependencies, LIST);
  const sweepLater = async () => {
    world.clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
    return (await collectGarbage(world.dependencies, { dryRun: false }, LIST)).removed;
  };
  expect(await sweepLater()).toEqual([]);
  expect(await findingsOf(world)).toEqual([]);
  await world.forge(`public${NAMES_URL}`, () => 'Market x\n');
  expect(await findingsOf(world)).toMatchObject([{ url: NAMES_URL, rule: 'file' }]);
  // A version without it has published since.
  await world.ingest([market('b')]);
  await world.publish();
  expect(await sweepLater()).toContain(`public${NAMES_URL}`);
});

test('the OpenAPI document has its path', () => {
  const openapi = openApiDocument();
  const { openapi: body } = staticBodies({ waitlist: {}, openapi }, LIST);
  expect(Object.keys(JSON.parse(body.body).paths)).toContain(NAMES_URL);
});

test('each kind has one owner', () => {
  const kinds = PROJECTORS.flatMap((projector) => projector.kinds);
  expect(new Set(kinds).size).toBe(kinds.length);
});
