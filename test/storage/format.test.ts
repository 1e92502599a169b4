/** The format of a ledger: an empty one gets this version's, and another is refused. */
import { expect, test } from 'vitest';
import { FormatTooNew, FormatTooOld } from '../../storage/ports/errors.ts';
import { checkFormat, claimFormat } from '../../storage/ports/format.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { supersededPageKey } from '../../storage/records/publication.ts';
import { faultyStorage } from '../publisher/faulty-storage.ts';
import { openMemoryLedger } from './memory-ledger.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { putItem } from './put-item.ts';

const newAttemptId = () => 'an attempt';

test('an empty ledger has the format of this version from its first use on', async () => {
  const ledger = openMemoryLedger();
  expect(await checkFormat(ledger)).toBeNull();
  expect(await ledger.get(FORMAT_KEY)).toBeNull();
  await claimFormat({ ledger, newAttemptId });
  expect(await checkFormat(ledger)).toBe(LEDGER_FORMAT);
});

test('a ledger that two use for the first time at once has one format', async () => {
  const ledger = openMemoryLedger();
  const { ledger: overtaken } = faultyStorage(ledger, openMemoryObjects(), 'all', async ({ what, run }) => {
    if (what.startsWith('ledger.transact')) await claimFormat({ ledger, newAttemptId });
    return await run();
  });
  await claimFormat({ ledger: overtaken, newAttemptId });
  expect((await ledger.get(FORMAT_KEY))?.value).toEqual({ format: LEDGER_FORMAT });
});

const stated = (format: number) => ({ key: FORMAT_KEY, revision: format, value: { format } });

test.each([
  [
    'that states none, and holds markets',
    { key: { ...MARKET_INDEX, sort: 'gold-usd' }, revision: 1, value: null },
    FormatTooOld,
  ],
  ['that states an earlier one', stated(LEDGER_FORMAT - 1), FormatTooOld],
  ['that states a later one', stated(LEDGER_FORMAT + 1), FormatTooNew],
])('a ledger %s is refused, and left as it is', async (_, item, refusal) => {
  const ledger = openMemoryLedger();
  await putItem(ledger, item.key, item.value as never, item.revision);
  await expect(checkFormat(ledger)).rejects.toThrow(refusal);
  await expect(claimFormat({ ledger, newAttemptId })).rejects.toThrow(refusal);
  const { items } = await ledger.query(item.key.partition, { limit: 9 });
  expect(items).toMatchObject([{ sort: item.key.sort, revision: item.revision, value: item.value }]);
});

test('the record of a superseded page is spelled as in every ledger of this format', () => {
  const page = `public/api/v1/markets/pages/history/pages/7-${'0a'.repeat(16)}.json`;
  const { sort } = supersededPageKey(page);
  expect(sort).toBe(`public/api/v1/history-pages/pages/7-${'0a'.repeat(16)}.json`);
});
