/** Rounds of a copy that are cut off, late, or overtaken by changes. fail-over.test.ts has deaths at any operation. */
import { describe, expect, test } from 'vitest';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { ImmutableMismatch, Superseded } from '../../../publisher/errors.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import { changedStore } from '../../../storage/ports/changed-store.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../faulty-storage.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price } from '../world.ts';
import { bytesOf, LEASE_MS, type TwoRegions, twoRegions } from './two-regions.ts';

/** Generation 1 is copied; then 2 changes all kinds at once, and 3 once more. */
async function changed(): Promise<TwoRegions> {
  // Files of markets may be of another generation than the bodies while a generation is applied, in either region.
  const regions = twoRegions(['log']);
  await regions.ingest(['a', 'b', 'c', 'd', 'e', 'z'].map((slug) => market(slug)));
  await regions.ingest(Array.from({ length: 9 }, (_, day) => price('b', day, day)));
  await regions.publishAll();
  await regions.copy();
  await regions.ingest([price('b', 9, 900), price('c', 0, null), market('bb')]);
  await regions.ingest([price('b', 1, -5)], 'correct');
  await removeMarket(regions, 'e');
  await regions.publishAll();
  await regions.ingest([price('a', 0, 1)]);
  await regions.publishAll();
  return regions;
}

describe('a copy whose round is cut off', () => {
  test('leaves the work to the round that has the lease', async () => {
    const regions = await changed();
    const dying = faultyStorage(regions.ledger, regions.second, 3, diesAfter);
    await expect(regions.copy({ second: dying.objects })).rejects.toThrow(ProcessDied);
    const before = bytesOf(regions.second);
    expect(await regions.copy()).toMatchObject({ isBusy: true, generation: 1 });
    expect(bytesOf(regions.second)).toEqual(before);
  });

  test('does not put a generation over a newer one, however late its round is', async () => {
    const regions = await changed();
    // A round that stands still in the middle, while its lease ends and another does the same work and more.
    let isAsleep = true;
    const wake: (() => void)[] = [];
    const late = regions.copy({
      second: faultyStorage(regions.ledger, regions.second, 'all', async ({ what, run }) => {
        if (isAsleep && what.startsWith('objects.put public/'))
          await new Promise<void>((resolve) => wake.push(resolve));
        return await run();
      }).objects,
    });
    while (wake.length === 0) await new Promise((resolve) => setImmediate(resolve));
    regions.clock.nowMs += LEASE_MS + 1;
    await regions.ingest([price('a', 1, 2), price('b', 10, 3), market('f')]);
    await regions.publishAll();
    await regions.copy();
    isAsleep = false;
    for (const go of wake) go();
    await expect(late).rejects.toThrow(Superseded);
    expect(await regions.faults({ settled: true })).toEqual([]);
  });

  test('stops at a page with other bytes', async () => {
    const regions = await changed();
    const pages = [...bytesOf(regions.objects).keys()].filter((key) => key.includes('/pages/'));
    const page = pages.find((key) => !bytesOf(regions.second).has(key)) as string;
    const found = await regions.objects.get(page);
    if (found.kind !== 'found') throw new Error('no page');
    await regions.second.put(page, Buffer.from('other bytes'), found.metadata, { kind: 'absent' });
    await expect(regions.copy()).rejects.toThrow(ImmutableMismatch);
  });
});

/** Copies into a store, while the first store gets generations between the operations. */
async function copyAmidChanges(regions: TwoRegions, onWrite: (what: string) => Promise<void>): Promise<void> {
  let day = 20;
  let writes = 0;
  let work = Promise.resolve();
  const change = async () => {
    await regions.ingest([price('b', day, day), price('d', day, day), price('z', day, day)]);
    await regions.publishAll();
    day++;
  };
  const faulty = faultyStorage(regions.ledger, regions.second, 'all', async ({ what, isWrite, run }) => {
    const outcome = await run();
    if (isWrite) {
      if (writes++ % 4 === 3 && day < 40) work = work.then(change);
      work = work.then(() => onWrite(what));
      await work;
    }
    return outcome;
  });
  await regions.copy({ second: faulty.objects });
  expect(day).toBeGreaterThan(25);
}

/** Of any page of the list, because a reader may have its cursor from the first region. */
function olderThanTheirPage(second: MemoryObjects): readonly string[] {
  const bodies = bytesOf(second);
  const revisionIn = (text: string | undefined) => (text === undefined ? -1 : (JSON.parse(text).revision ?? Infinity));
  const pages = [...bodies].filter(([key]) => key.startsWith('public/api/v1/markets/pages/'));
  return pages.flatMap(([page, text]) => {
    const items = JSON.parse(text).data as readonly { readonly slug: string; readonly revision: number }[];
    const older = items.filter(
      ({ slug, revision }) => revisionIn(bodies.get(publicKey({ kind: 'market', slug }))) < revision,
    );
    return older.map(({ slug }) => `${slug} is older than on ${page}`);
  });
}

test('a copy that is made again is never torn, although the first store changes meanwhile', async () => {
  const regions = await changed();
  await restore(regions.dependencies, { after: '', hasTime: () => true });
  await regions.publishAll();
  const found: string[] = [];
  let looks = 0;
  await copyAmidChanges(regions, async (what) => {
    if (looks++ % 3 > 0) return;
    found.push(...(await regions.faults()).map((fault) => `${what}: ${fault}`), ...olderThanTheirPage(regions.second));
  });
  expect(found).toEqual([]);
  await regions.copy();
  expect(await regions.faults({ settled: true })).toEqual([]);
});

test('a first copy has each page of a history before the history, also if the page was closed after the listing', async () => {
  const regions = await changed();
  const second = openMemoryObjects();
  let day = 20;
  const first = changedStore(regions.objects, {
    async list(prefix, options) {
      const page = await regions.objects.list(prefix, options);
      if (day > 200) return page;
      await regions.ingest(Array.from({ length: 9 }, () => price('b', ++day, day)));
      await regions.publishAll();
      return page;
    },
  });
  let histories = 0;
  const checked = changedStore(second, {
    async put(key, body, metadata, condition) {
      if (key.endsWith('/b/history.json')) {
        const cursor = metadata.nextCursor as string;
        expect(await second.stat(publicKey({ kind: 'history-page', slug: 'b', cursor }))).not.toBeNull();
        histories++;
      }
      return await second.put(key, body, metadata, condition);
    },
  });
  await regions.copy({ first, second: checked });
  expect(histories).toBeGreaterThan(0);
});
