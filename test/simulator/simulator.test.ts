/** The simulator itself: it is repeatable, and finds planted faults. See docs/simulator.md. */
import { describe, expect, test } from 'vitest';
import { sampled } from '../runs.ts';
import { DAMAGED, findPlanted, PLANTED } from './planted.ts';
import { KINDS, simulate } from './simulate.ts';

/** The slow tests try those after these. */
const WORLDS = 40;

test.each(KINDS)('a seed gives the same trace each time: a world of kind %s', async (kind) => {
  for (const seed of kind === 'busy' || kind === 'workers' ? [1] : [1, 2, 3]) {
    const { trace, violation } = await simulate(seed, { kind, keepTrace: true });
    expect(trace.length).toBeGreaterThan(20);
    expect(await simulate(seed, { kind, keepTrace: true })).toMatchObject({ trace, violation });
    expect(await simulate(seed, { kind })).toMatchObject({ trace: [], violation });
  }
});

test('every promise holds in these worlds', async () => {
  for (let seed = 1; seed <= WORLDS; seed++) {
    const { violation } = await simulate(seed);
    expect(violation, `npm run simulate -- --seed ${seed}`).toBeNull();
  }
});

test.each([165, 2715, 4529, 4866, 5780, 21990, 22830, 25035, 134149, { seed: 50266, kind: 'torn' as const }])(
  'world %j, which once broke a promise, keeps it',
  async (world) => {
    const { seed, ...options } = typeof world === 'number' ? { seed: world } : world;
    expect((await simulate(seed, options)).violation).toBeNull();
  },
);

test('no link leads to a damaged page: there is an alarm instead', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { violation } = await simulate(seed, DAMAGED);
    if (violation !== null) expect(violation.rule, `seed ${seed}: ${violation.detail}`).toBe('alarm');
  }
});

describe('the simulator finds the fault if it switches off', () => {
  test.each(
    sampled(
      PLANTED.filter(({ isRare }) => !isRare),
      2,
    ),
  )('$what', async (planted) => {
    expect(await findPlanted(planted)).not.toBeNull();
  });
});
