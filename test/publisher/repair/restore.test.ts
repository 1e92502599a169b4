/**
 * An older copy of the ledger, with a torn newest transaction, beside the store of the later state. During a restore in
 * place, readers of anything that was public before never see a 404.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { PUBLIC_PREFIX } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { MARKET_INDEX, observationsOf } from '../../../storage/records/markets.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import type { MemoryObjects } from '../../storage/memory-objects.ts';
import { faultyStorage } from '../faulty-storage.ts';
import { faultsOfLog } from '../log/log-oracle.ts';
import { readTexts, withLog } from '../log/test-log.ts';
import { type LoggedLedger, olderCopy, openLoggedLedger, type Tear } from '../logged-ledger.ts';
import { createWorld, dependenciesOn, market, price, readerOf, SMALL_PAGES, type World } from '../world.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 23 * HOUR_MS;

/** The last state of the store, and the ledger with its transactions. */
let later: World & { readonly ledger: LoggedLedger };
/** The number of transactions at the beginning of each of the last three days. */
const days: number[] = [];

beforeAll(async () => {
  const ledger = openLoggedLedger();
  const created = createWorld(SMALL_PAGES, ledger);
  later = { ...created.with(withLog(created.dependencies)), ledger };
  const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  await later.ingest(slugs.map((slug) => market(slug)));
  await later.ingest(slugs.flatMap((slug) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((day) => price(slug, day, 100 + day))));
  await later.publish();
  for (let day = 0; day < 3; day++) {
    days.push(ledger.transactions.length);
    // Closed pages change, so that the store lacks some that the copy records.
    await later.ingest([price('b', day, 7 + day), price('e', 2, 7 + day)], 'correct');
    await later.publish();
    await later.ingest([price('a', 20 + day, 5), price('c', 20 + day, null), market(`day-${day}`)]);
    await later.ingest([price(`day-${day}`, 0, 1)]);
    await later.publish();
    later.clock.nowMs += DAY_MS + PAGE_RETENTION_SECONDS * 1000;
    await collectGarbage(later.dependencies, { dryRun: false });
  }
  await later.ingest([price('b', 4, 70)], 'correct');
  await later.publish();
});

const TEARS: readonly [string, Tear][] = [
  ['nothing', () => false],
  ['its first change', (index) => index === 0],
  ['all but its first change', (index) => index > 0],
  ['every other change', (index) => index % 2 === 1],
  ['records without observations', (_, changes) => !isObservation(changes.at(_))],
  ['observations without records', (_, changes) => isObservation(changes.at(_))],
];

function isObservation(change: { readonly key: { readonly sort: string } } | undefined): boolean {
  return change?.key.sort.startsWith('observation/') === true;
}

describe('an older copy is restored in place, wherever it ends', () => {
  test.each(TEARS)('and has %s of the next transaction', async (name, tear) => {
    const [, from = 0, to = 0] = days;
    // This row takes a third of the transactions of the last day but one, the next rows the others.
    const first = from + (TEARS.findIndex(([other]) => other === name) % 3);
    for (let count = first; count < to; count += 6) await restoreInPlace(await olderCopy(later.ledger, count, tear));
  });
});

test('a complete copy, and one with definitions only, are restored too', async () => {
  await restoreInPlace(await olderCopy(later.ledger, later.ledger.transactions.length));
  await restoreInPlace(await olderCopy(later.ledger, 2));
});

async function restoreInPlace(ledger: Ledger): Promise<void> {
  const objects = later.objects.copy();
  const clock = { nowMs: later.clock.nowMs };
  const before = publicKeys(objects);
  const listPages = before.filter((key) => key.includes('/markets/pages/'));
  const dependencies = {
    ...withLog(dependenciesOn(ledger, watchedStore(objects, before), clock)),
    maxMarkedMarkets: 3,
  };
  const logBefore = await readTexts(objects);
  const generation = (await later.ledger.get(HEAD_KEY))?.revision ?? 0;

  expect((await restore(dependencies)).next).toBeNull();
  const writer = createWorld(SMALL_PAGES, ledger);
  for (let round = 0, isMoreDue = true; isMoreDue; round++) {
    // Writers continue meanwhile, and it may take hours.
    await writer.ingest([price('e', 50 + round, 1)]);
    const outcome = await publish(dependencies);
    expect(outcome.deferred).toEqual([]);
    expect(outcome.generation).toBeGreaterThan(generation);
    clock.nowMs += 3 * HOUR_MS;
    await collectGarbage(dependencies, { dryRun: false });
    isMoreDue = outcome.isMoreDue;
  }
  await expectPublished(ledger, objects);
  // The log goes on from the newest checkpoint that was public.
  expect((await readTexts(objects)).slice(0, logBefore.length)).toEqual(logBefore);

  // Until then readers got the earlier list, so its pages stay for another day. Then the sweep finds them.
  const afterwards = withLog(dependenciesOn(ledger, objects, clock));
  clock.nowMs += DAY_MS - 3 * HOUR_MS;
  await collectGarbage(afterwards, { dryRun: false });
  await expectAllThere(objects, listPages);
  await writer.ingest([market('after'), price('after', 0, 1), price('a', 30, 1)]);
  await publish(afterwards);
  clock.nowMs += DAY_MS;
  for (let round = 0; round < 3; round++) {
    clock.nowMs += PAGE_RETENTION_SECONDS * 1000;
    await collectGarbage(afterwards, { dryRun: false });
  }
  const { markets, pages } = await expectPublished(ledger, objects);
  expect(publicKeys(objects).filter((key) => /\/(histor|market)/.test(key))).toHaveLength(markets + pages);
}

/** Everything in the ledger is public, and `verify` finds nothing. */
async function expectPublished(ledger: Ledger, objects: ObjectStore) {
  const report = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report.findings).toEqual([]);
  expect(await faultsOfLog(objects)).toEqual([]);
  const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
  const histories = await Promise.all(slugs.map((slug) => readAll(ledger, observationsOf(slug))));
  expect(report).toMatchObject({ markets: slugs.length, observations: histories.flat().length });
  return report;
}

/** After any write, a reader finds everything that was public before. After each twelfth, the target of each link, too. */
function watchedStore(objects: MemoryObjects, before: readonly string[]): ObjectStore {
  let writes = 0;
  return faultyStorage(later.ledger, objects, 'all', async ({ isWrite, run }) => {
    const result = await run();
    if (!isWrite) return result;
    await expectAllThere(objects, before);
    if (writes++ % 12 > 0) return result;
    const { findings } = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, projectors: [] });
    expect(findings.filter(({ rule }) => rule === 'status')).toEqual([]);
    return result;
  }).objects;
}

async function expectAllThere(objects: ObjectStore, keys: readonly string[]): Promise<void> {
  const found = await Promise.all(keys.map((key) => objects.stat(key)));
  expect(keys.filter((_, index) => found[index] === null)).toEqual([]);
}

function publicKeys(objects: MemoryObjects): readonly string[] {
  return [...objects.snapshot().keys()].filter((key) => key.startsWith(PUBLIC_PREFIX));
}
