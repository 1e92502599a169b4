/** Facts of a market that are not numbers: what readers see of them, and what the log says, step by step. */
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { createWorld, market, price, SMALL_PAGES } from '../world.ts';
import { faultsOfLog } from './log-oracle.ts';
import { readLog, testSigner, withLog } from './test-log.ts';

async function openSteps() {
  const plain = createWorld();
  const world = plain.with(withLog(plain.dependencies));
  await world.publish();
  return {
    bodyOf: () => world.json<Record<string, unknown>>('/api/v1/markets/a'),
    /** Ingests and publishes the records. Returns the entries that the log has got. */
    async step(...records: IngestRecordInput[]) {
      const known = (await readLog(world.objects)).length;
      await world.ingest(records);
      await world.publish();
      expect(await faultsOfLog(world.objects)).toEqual([]);
      const proven = await verifyLog(world.read, { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES });
      expect(proven.findings).toEqual([]);
      return (await readLog(world.objects)).slice(known);
    },
  };
}

const having = (more: object) => ({ ...market('a'), ...more }) as IngestRecordInput;

test('a fact is in the body with its source; a change is an entry of format 2, and what is repeated or older is none', async () => {
  const { step, bodyOf } = await openSteps();
  const fact = (value: string, day: number, sourceLabel = 'A list') => {
    return { value, sourceLabel, sourceUrl: `https://example.com/${day}`, observedAt: `2026-09-0${day}T00:00:00Z` };
  };
  await step(market('a'), price('a', 0, 8000));
  expect(await bodyOf()).not.toHaveProperty('attributes');

  const attributes = { mode: fact('chat', 2) };
  expect(await step(having({ attributes }))).toMatchObject([{ format: 2, type: 'market', market: 'a', attributes }]);
  const { revision, ...body } = await bodyOf();
  expect(body).toMatchObject({ attributes });

  for (const mode of [fact('chat', 3), fact('completion', 1)])
    expect(await step(having({ attributes: { mode } }))).toEqual([]);
  expect(await step(having({}))).toEqual([]);
  expect((await bodyOf()).revision).toBe(revision);

  const changed = { mode: fact('responses', 4), deprecationDate: fact('2027-01-01', 4) };
  expect(await step(having({ attributes: changed }), price('a', 1, 8100))).toMatchObject([
    { format: 2, type: 'market', attributes: changed },
    { format: 1, type: 'observation' },
  ]);
  expect(await step(having({ attributes: { mode: fact('responses', 5, 'Another list') } }))).toHaveLength(1);

  expect(await step(having({ attributes: {} }))).toMatchObject([{ format: 1, type: 'market' }]);
  expect(await bodyOf()).not.toHaveProperty('attributes');
});

test('a rule for outliers and its reason are in the body, and in the log in format 2; nothing else changes', async () => {
  const { step, bodyOf } = await openSteps();
  expect(await step(market('a'), price('a', 0, 8000))).toMatchObject([{ format: 1 }, { format: 1 }]);
  expect(await bodyOf()).not.toHaveProperty('outliers');

  const ruled = { outliers: { factor: 20, neighbours: 5 }, outliersReason: 'Prices of power cross zero.' };
  expect(await step(having(ruled))).toMatchObject([{ format: 2, type: 'market', market: 'a', ...ruled }]);
  expect(await bodyOf()).toMatchObject(ruled);

  expect(await step(having({ outliers: 'off' }), price('a', 1, -800_000))).toMatchObject([
    { format: 2, type: 'market', outliers: 'off', outliersReason: null },
    { format: 1, type: 'observation' },
  ]);
  expect(await bodyOf()).toMatchObject({ outliers: 'off' });
  expect(await bodyOf()).not.toHaveProperty('outliersReason');

  expect(await step(having({ outliers: null }))).toMatchObject([{ format: 1, type: 'market', market: 'a' }]);
  expect(await bodyOf()).not.toHaveProperty('outliers');
});
