/** Many more worlds than the fast tests run, and planted faults that only many seeds find. */
import { describe, expect, test } from 'vitest';
import { simulateMany } from '../simulator/many.ts';
import { findPlanted, PLANTED } from '../simulator/planted.ts';

/** `npm run simulate` runs more. */
const WORLDS = 160;
/** The fast tests have the seeds before. */
const FIRST = 41;

test('every promise holds in 160 worlds', async () => {
  const answers = await simulateMany({ first: FIRST, count: WORLDS, threads: 1 });
  const broken = answers.filter(({ violation }) => violation !== null);
  const told = broken.map(({ seed, violation }) => `npm run simulate -- --seed ${seed}: ${violation?.rule}`);
  expect(told).toEqual([]);
  expect(answers).toHaveLength(WORLDS);
});

describe('the simulator finds the fault if it switches off', () => {
  const rare = PLANTED.filter(({ isRare }) => isRare).map((planted, place) => ({ ...planted, place }));
  test.for(rare)('$what', async ({ place, ...planted }, context) => {
    if (process.env.CI === 'true' && place % 2 === 1)
      context.skip('CI tries every second one: `npm run test:slow` tries all');
    expect(await findPlanted(planted)).not.toBeNull();
  });
});
