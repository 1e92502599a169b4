/** After a restore, a history may be too short for files that are public: they show no lost row, from the first list on. */
import { expect, test } from 'vitest';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import { createFilesWorld, old } from '../files-world.ts';
import { olderCopy, openLoggedLedger } from '../logged-ledger.ts';
import { refresh } from '../refresh.ts';
import { removeMarket } from '../remove-market.ts';
import { createWorld, market, price, SMALL_PAGES } from '../world.ts';

test.each([
  ['all but one page', 4, ['a/history.csv', 'a/history.ndjson', 'a/history/2026.csv', 'a/history/2026.ndjson']],
  ['all but one row', 3, ['a/history.csv', 'a/history.ndjson', 'a/history/2026.csv', 'a/history/2026.ndjson']],
  ['all rows', 2, ['a/history.csv', 'a/history.ndjson']],
  ['the market', 1, []],
])('a restore loses %s', async (_, count, named) => {
  const ledger = openLoggedLedger();
  const before = createFilesWorld(createWorld(SMALL_PAGES, ledger));
  const steps = [[market('b')], [market('a')], [price('a', 1, 1)], [price('a', 2, 1)]];
  const ends: number[] = [];
  for (const records of steps) {
    await before.ingest(records);
    await before.publish();
    ends.push(ledger.transactions.length);
  }
  await before.ingest([0, 1, 2, 3, 4].map((day) => old('a', day, 1)));
  await before.publish();

  const copied = createWorld(SMALL_PAGES, await olderCopy(ledger, ends[count - 1] as number));
  const { objects, clock } = before;
  const dependencies = { ...before.dependencies, ledger: copied.ledger };
  const after = createFilesWorld({ ...copied, dependencies, objects, clock });
  await restore(dependencies);
  const settle = async () => {
    while ((await after.publish()).isMoreDue);
    expect(await after.findings()).toEqual([]);
  };
  await settle();
  expect([...after.files().keys()]).toEqual(expect.arrayContaining(named));

  // As a writer who sends it again would do.
  if (count === 1) await after.ingest([market('a')]);
  await settle();
  await after.ingest([price('a', 1, 7)], count > 2 ? 'correct' : 'append');
  await settle();
  await refresh(after, ['a', 'b']);
  await settle();
  // The index gets another year, although the history still has one page.
  await after.ingest([old('a', 9, 7)]);
  await settle();
  clock.nowMs += 2 * PAGE_RETENTION_SECONDS * 1000;
  await after.ingest([price('b', 0, 1)]);
  await settle();
  await collectGarbage(dependencies, { dryRun: false });
  expect(await after.findings()).toEqual([]);
  await removeMarket(after, 'a', 'b');
  while ((await after.publish()).isMoreDue);
  expect(await after.findings(['a'])).toEqual([]);
});
