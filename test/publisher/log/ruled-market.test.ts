/** A market with a rule of its own for outliers: what readers see of it, and what the log says. */
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import type { OutlierRule } from '../../../contract/values/market.ts';
import { market, price } from '../world.ts';
import { openLoggedSteps } from './logged-steps.ts';

const REASON = 'Prices of power cross zero.';
const ruled = (outliers: OutlierRule | null, outliersReason?: string) =>
  ({ ...market('a'), outliers, ...(outliersReason && { outliersReason }) }) as IngestRecordInput;

test('shows the rule and its reason; the log states them in format 2, and nothing else there changes', async () => {
  const { step, bodyOf, expectProven } = await openLoggedSteps();

  const plain = await step(market('a'), market('b'), price('a', 0, 8000), price('b', 0, 5));
  expect(plain.map(({ format }) => format)).toEqual([1, 1, 1, 1]);
  expect(await bodyOf()).not.toHaveProperty('outliers');

  const outliers = { factor: 20, neighbours: 5 };
  expect(await step(ruled(outliers, REASON))).toMatchObject([
    { format: 2, type: 'market', market: 'a', outliers, outliersReason: REASON },
  ]);
  expect(await bodyOf()).toMatchObject({ outliers, outliersReason: REASON });

  expect(await step(ruled('off'), price('a', 1, -800_000))).toMatchObject([
    { format: 2, type: 'market', outliers: 'off', outliersReason: null },
    { format: 1, type: 'observation' },
  ]);
  expect(await bodyOf()).toMatchObject({ outliers: 'off' });
  expect(await bodyOf()).not.toHaveProperty('outliersReason');

  await expectProven();

  const [back] = await step(ruled(null));
  expect(back).toMatchObject({ format: 1, type: 'market', market: 'a' });
  expect(await bodyOf()).not.toHaveProperty('outliers');
});
