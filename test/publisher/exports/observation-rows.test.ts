/** Rows of a market that is stated anew: what was said before its reset does not count. */
import { expect, test } from 'vitest';
import { PartRows } from '../../../publisher/projections/exports/observation-rows.ts';

const entry = (fields: object) => JSON.stringify({ market: 'a', ...fields });
const DEFINITION = entry({ type: 'market', unit: { quantity: 1 } });
const RESET = entry({ type: 'reset' });
const version = (id: string, supersedes: string | null = null) =>
  entry({
    ...{ type: 'observation', id, supersedes, metric: 'price', kind: 'money', amountMinor: 1, currency: 'USD' },
    ...{ observedAt: '2026-01-01T00:00:00Z', recordedAt: '2026-02-01T00:00:00Z' },
  });

async function rowsOf(...texts: readonly string[]) {
  const part = new PartRows();
  part.addTile(0, texts);
  const rows: unknown[] = [];
  for await (const some of part.rows(new Map(), async () => {})) {
    rows.push(...some.map(({ id, logIndex, supersededBy }) => [id, logIndex, supersededBy]));
  }
  return rows;
}

test('a version that the ledger has lost supersedes nothing after the reset', async () => {
  const before = [DEFINITION, version('obs_1'), version('obs_2', 'obs_1')];
  expect(await rowsOf(...before)).toEqual([
    ['obs_1', 1, 'obs_2'],
    ['obs_2', 2, null],
  ]);
  expect(await rowsOf(...before, RESET, DEFINITION, version('obs_1'))).toEqual([['obs_1', 5, null]]);
  expect(await rowsOf(...before, RESET, DEFINITION, version('obs_1'), version('obs_2', 'obs_1'))).toEqual([
    ['obs_1', 5, 'obs_2'],
    ['obs_2', 6, null],
  ]);
});

test('an observation that the log states again is one row, of its first entry', async () => {
  const stated = [DEFINITION, version('obs_1'), version('obs_2', 'obs_1')];
  expect(await rowsOf(...stated, version('obs_1'), version('obs_2', 'obs_1'))).toEqual([
    ['obs_1', 1, 'obs_2'],
    ['obs_2', 2, null],
  ]);
});

test('the price for one unit is unknown while the quantity of the market is', async () => {
  const part = new PartRows();
  part.addTile(0, [version('obs_1')]);
  for (const [quantities, decimalPerUnit] of [
    [new Map(), null],
    [new Map([['a', 1]]), '0.01'],
  ] as const) {
    const rows: unknown[] = [];
    for await (const some of part.rows(quantities, async () => {})) rows.push(...some);
    expect(rows).toMatchObject([{ decimal: '0.01', decimalPerUnit, approximateValue: decimalPerUnit && 0.01 }]);
  }
});
