/** A market that does not add up is put off: it holds up no other one, and is forgotten once there is nothing to put off. */
import { expect, test } from 'vitest';
import { type PublishOutcome, publish } from '../../../publisher/publish.ts';
import { repairOne } from '../../../publisher/repair/repair-market.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { Change, ItemKey, Ledger } from '../../../storage/ledger.ts';
import { readAll } from '../../../storage/paging.ts';
import { marketIndexKey, observationsOf } from '../../../storage/records/markets.ts';
import { PUT_OFF, putOffKey, refreshMarkKey } from '../../../storage/records/publication.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES, type World } from '../world.ts';

const SLUGS = ['a', 'b', 'c', 'd'];

const isPutOff = async ({ ledger }: World) => (await readAll(ledger, PUT_OFF)).map(({ sort }) => sort);
const shown = ({ objects }: World) =>
  SLUGS.filter((slug) => objects.snapshot().has(`public/api/v1/markets/${slug}.json`));

async function change({ ledger, dependencies }: World, changes: readonly Change[]): Promise<void> {
  await ledger.transact(changes, { attemptId: dependencies.newAttemptId() });
}

/** All are marked, and these have lost an observation that their records count. */
async function worldWithTorn(torn: readonly string[], ledger?: Ledger): Promise<World> {
  const world = createWorld(undefined, ledger);
  await world.ingest([...SLUGS.map((slug) => market(slug)), ...SLUGS.map((slug) => price(slug, 0, 100))]);
  for (const slug of torn) {
    const [lost] = await readAll(world.ledger, observationsOf(slug));
    await change(world, [{ kind: 'delete', key: lost as ItemKey, if: { kind: 'any' } }]);
  }
  return world;
}

async function publishWhileMoreIsDue(world: World, maxMarkedMarkets: number): Promise<PublishOutcome> {
  for (let generations = 0; generations < 20; generations++) {
    const outcome = await publish({ ...world.dependencies, maxMarkedMarkets });
    if (!outcome.isMoreDue) return outcome;
  }
  return expect.unreachable('more is due for ever');
}

test.each([1, 2, 100])(
  'markets that are put off leave room for all others, where a generation takes %i',
  async (max) => {
    const world = await worldWithTorn(['a', 'b', 'c']);
    for (const slug of SLUGS) {
      await change(world, [{ kind: 'put', key: refreshMarkKey(slug), revision: 0, value: null, if: { kind: 'any' } }]);
    }
    const { putOff } = await publishWhileMoreIsDue(world, max);
    expect(putOff.map(({ slug }) => slug).sort()).toEqual(['a', 'b', 'c']);
    expect(shown(world)).toEqual(['d']);
    // A repair takes it out of those: it need not wait for its turn among them.
    await repairOne(world.dependencies, 'b');
    await publishWhileMoreIsDue(world, max);
    expect(shown(world)).toEqual(['b', 'd']);
    expect(await isPutOff(world)).toEqual(['a', 'c']);
  },
);

test('a market that has no mark any more is not put off', async () => {
  const world = await worldWithTorn([]);
  await publish(world.dependencies);
  // As a publisher leaves it that was overtaken: another one has planned the market, and cleared its mark.
  const value = { sinceMs: world.clock.nowMs, reason: 'its record was not there yet' };
  await change(world, [{ kind: 'put', key: putOffKey('a'), revision: 0, value, if: { kind: 'absent' } }]);
  expect(await publish(world.dependencies)).toMatchObject({ kind: 'unchanged', putOff: [] });
  expect(await isPutOff(world)).toEqual([]);
});

test('a market that the index does not have is put off until a repair, and is then in the list', async () => {
  const world = await worldWithTorn([]);
  await change(world, [{ kind: 'delete', key: marketIndexKey('c'), if: { kind: 'any' } }]);
  expect((await publish(world.dependencies)).putOff).toMatchObject([{ slug: 'c' }]);
  expect(shown(world)).toEqual(['a', 'b', 'd']);
  await repairOne(world.dependencies, 'c');
  await publish(world.dependencies);
  expect(shown(world)).toEqual(SLUGS);
  const { findings } = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toEqual([]);
});
