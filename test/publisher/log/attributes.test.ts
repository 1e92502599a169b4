/** Facts of a market that are no numbers: what readers see of them, and what the log says. */
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { market, price } from '../world.ts';
import { openLoggedSteps } from './logged-steps.ts';

const fact = (value: string, day: number, sourceLabel = 'A list') => ({
  value,
  sourceLabel,
  sourceUrl: `https://example.com/${day}`,
  observedAt: `2026-09-0${day}T00:00:00Z`,
});
const having = (attributes?: Readonly<Record<string, ReturnType<typeof fact>>>) =>
  ({ ...market('a'), ...(attributes && { attributes }) }) as IngestRecordInput;

test('a fact is in the body with its source; a change is an entry of format 2, and what is repeated or older is none', async () => {
  const { step, bodyOf, expectProven } = await openLoggedSteps();

  await step(market('a'), price('a', 0, 8000));
  expect(await bodyOf()).not.toHaveProperty('attributes');

  const first = { mode: fact('chat', 2) };
  expect(await step(having(first))).toMatchObject([{ format: 2, type: 'market', market: 'a', attributes: first }]);
  const { revision, ...body } = await bodyOf();
  expect(body).toMatchObject({ attributes: first });

  expect(await step(having({ mode: fact('chat', 3) }))).toEqual([]);
  expect(await step(having({ mode: fact('completion', 1) }))).toEqual([]);
  expect(await step(having())).toEqual([]);
  expect((await bodyOf()).revision).toBe(revision);

  const changed = { mode: fact('responses', 4), deprecationDate: fact('2027-01-01', 4) };
  expect(await step(having(changed), price('a', 1, 8100))).toMatchObject([
    { format: 2, type: 'market', attributes: changed },
    { format: 1, type: 'observation' },
  ]);
  await expectProven();
  expect(await step(having({ mode: fact('responses', 5, 'Another list') }))).toHaveLength(1);

  expect(await step(having({}))).toMatchObject([{ format: 1, type: 'market' }]);
  expect(await bodyOf()).not.toHaveProperty('attributes');
});
