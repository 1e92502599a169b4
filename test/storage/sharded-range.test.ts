/** A range that several partitions share is read as one range. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryPages, readAll, readPage } from '../../storage/ports/paging.ts';
import { openMemoryLedger } from './memory-ledger.ts';
import { putItem } from './put-item.ts';

const SHARDS = ['a/0', 'a/1', 'a/2'];

/** Keys with a partition each; long values make short pages. */
const items = fc.uniqueArray(
  fc.tuple(fc.stringMatching(/^[pq]\/[a-f]{1,3}$/), fc.constantFrom(...SHARDS), fc.nat(900)),
  {
    selector: ([sort]) => sort,
    maxLength: 60,
  },
);

async function ledgerOf(rows: readonly (readonly [sort: string, partition: string, length: number])[]) {
  const ledger = openMemoryLedger();
  for (const [sort, partition, length] of rows) {
    await putItem(ledger, { partition, sort }, 'x'.repeat(length));
  }
  return ledger;
}

test('in order, in both directions, from any place, in pages of any size, and with each item once', async () => {
  await fc.assert(
    fc.asyncProperty(
      items,
      fc.boolean(),
      fc.option(fc.stringMatching(/^p\/[a-f]$/)),
      fc.integer({ min: 1, max: 9 }),
      check,
    ),
    { numRuns: 60 },
  );

  async function check(
    rows: Parameters<typeof ledgerOf>[0],
    descending: boolean,
    after: string | null,
    limit: number,
  ): Promise<void> {
    const ledger = await ledgerOf(rows);
    const range = { shards: SHARDS, prefix: 'p/' };
    const isBehind = (sort: string) => after === null || (descending ? sort < after : sort > after);
    const sorted = rows
      .map(([sort]) => sort)
      .filter((sort) => sort.startsWith('p/') && isBehind(sort))
      .sort();
    const expected = descending ? sorted.reverse() : sorted;
    const options = { descending, limit, ...(after === null ? {} : { after }) };
    expect((await readAll(ledger, range, options)).map(({ sort }) => sort)).toEqual(expected);

    const paged: string[] = [];
    for (let next = after; ; ) {
      const page = await readPage(ledger, range, { descending, limit, ...(next === null ? {} : { after: next }) });
      expect(page.items.length).toBeLessThanOrEqual(limit);
      paged.push(...page.items.map(({ sort }) => sort));
      if (page.next === null) break;
      next = page.next;
    }
    expect(paged).toEqual(expected);
  }
});

test('a reader that stops early has asked each partition for one page', async () => {
  const rows = Array.from({ length: 90 }, (_, index) => [`p/${index + 10}`, SHARDS[index % 3] as string, 1] as const);
  const ledger = await ledgerOf(rows);
  const asked: string[] = [];
  const counting = {
    query: (...[partition, options]: Parameters<typeof ledger.query>) => {
      asked.push(partition);
      return ledger.query(partition, options);
    },
  };
  for await (const some of queryPages(counting, { shards: SHARDS }, { limit: 5 })) if (some.length > 0) break;
  expect(asked).toEqual(SHARDS);
});
