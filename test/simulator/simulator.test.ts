/** The simulator itself: it repeats itself, and finds what is broken on purpose. */
import { describe, expect, test } from 'vitest';
import { parsePublicKey } from '../../contract/public-objects.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/sweep/collect-garbage.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { KINDS, type SimulationOptions, simulate } from './simulate.ts';
import { WIRING } from './wiring.ts';

/** The items of a transaction become visible together, as in the embedded ledger. */
const AT_ONCE: SimulationOptions = { kind: 'ordinary', conditions: { staggerRate: 0 } };

test.each(KINDS)('a seed gives the same trace each time: a world of kind %s', async (kind) => {
  for (const seed of [1, 2, 3]) {
    const { trace, violation } = await simulate(seed, { kind, keepTrace: true });
    expect(trace.length).toBeGreaterThan(20);
    expect(await simulate(seed, { kind, keepTrace: true })).toMatchObject({ trace, violation });
    const unkept = await simulate(seed, { kind });
    expect(unkept).toMatchObject({ trace: [], violation });
  }
});

test('every promise holds in these worlds', async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const { violation } = await simulate(seed, AT_ONCE);
    expect(violation, `npm run simulate -- --seed ${seed}`).toBeNull();
  }
});

interface Planted {
  readonly what: string;
  readonly options: SimulationOptions;
  /** Found within so many seeds. */
  readonly within: number;
}

const PLANTED: readonly Planted[] = [
  {
    what: 'HEAD is swapped whatever it is',
    options: { ledgerGaps: ({ key }) => key.partition === HEAD_KEY.partition && key.sort === HEAD_KEY.sort },
    within: 300,
  },
  {
    what: 'a head body is put over whatever is there',
    options: { storeGaps: { put: isHead } },
    within: 300,
  },
  {
    what: 'a page is swept as soon as no list leads to it',
    options: {
      wiring: {
        sweep: (host) => WIRING.sweep({ ...host, nowMs: () => host.nowMs() + (PAGE_RETENTION_SECONDS - 60) * 1000 }),
      },
    },
    within: 100,
  },
  {
    what: 'nothing is published',
    options: { wiring: { publish: async () => 'nothing' } },
    within: 3,
  },
];

describe('the simulator finds that', () => {
  test.each(PLANTED)('$what', async ({ options, within }) => {
    for (let seed = 1; seed <= within; seed++) {
      const { violation } = await simulate(seed, { ...AT_ONCE, ...options });
      if (violation !== null) return;
    }
    expect.unreachable(`not found within ${within} seeds`);
  });
});

function isHead(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && !('cursor' in name);
}
