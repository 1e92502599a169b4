/** The short version of `npm run torture`, and that it can fail. docs/faults.md. */
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';
import { killScenario } from '../torture/kill.ts';
import { SCENARIOS } from '../torture/table.ts';
import { type Outcome, runScenario, type Scenario } from '../torture/trial.ts';

/** In the name of each test; the command repeats it. */
const SEED = randomInt(1, 1_000_000_000);
const TIMES: Readonly<Record<string, number>> = { kill: 12 };
/** Most of it is waiting, so they run side by side. Beside engines on two slow cores, that of a minute takes more than four. */
const LIMIT = { timeout: 600_000 };

async function run(scenario: Scenario, seed: number, times = TIMES[scenario.name] ?? 1): Promise<Outcome> {
  const { folder, remove } = await makeTemporaryFolder();
  try {
    return await runScenario(scenario, { seed, folder, times });
  } finally {
    await remove();
  }
}

describe.concurrent(`torture, seed ${SEED}`, () => {
  test.for(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    '%s: every promise holds',
    LIMIT,
    async ([, scenario], context) => {
      const { broken, skipped, counts } = await run(scenario, SEED);
      if (skipped !== null) context.skip(skipped);
      expect(broken, `npm run torture -- ${scenario.name} --seed ${SEED}`).toEqual([]);
      expect(counts.get('reads answered')).toBeGreaterThan(0);
    },
  );
});

test.for(SCENARIOS.map(({ name }) => name))('docs/faults.md tells operators about %s', (name) => {
  expect(readFileSync(join(import.meta.dirname, '../../docs/faults.md'), 'utf8')).toContain(`\`${name}\``);
});

/** After so many kills, the disk has lost what it had confirmed. */
const LOST_AFTER = 3;

/** Takes items out of the ledger, by a condition of SQL. */
const lose = (which: string) => async (dataFolder: string) => {
  const ledger = new DatabaseSync(join(dataFolder, 'ledger.sqlite'));
  ledger.exec(`DELETE FROM items WHERE ${which}`);
  ledger.close();
};

describe.concurrent('the checks find', () => {
  const PARTS = ['ledger.sqlite', 'ledger.sqlite-wal', 'public', 'store'];

  /** Keeps a copy of ledger and objects, and puts it back later. */
  async function setBack(dataFolder: string, kills: number): Promise<void> {
    const copy = join(dataFolder, '..', 'copy');
    const [from, to] = kills === 1 ? [dataFolder, copy] : [copy, dataFolder];
    for (const name of PARTS) {
      await rm(join(to, name), { recursive: true, force: true });
      if (existsSync(join(from, name))) await cp(join(from, name), join(to, name), { recursive: true });
    }
  }

  test.for([
    ['answers of writes that are lost', 'an acknowledged write is lost', lose("partition LIKE 'idempotency/%'")],
    ['watchlists that are lost', 'an acknowledged write is lost: watchlist', lose("partition LIKE 'watchlists/%'")],
    [
      // Whether a reader had seen a later body by then depends on the moment.
      'a whole past that is lost, by writes or by bodies that go backwards',
      /an acknowledged write is lost|a body (comes back|goes backwards)|a published URL is refused/,
      setBack,
    ],
  ] as const)('%s', LIMIT, async ([, rule, plant]) => {
    const scenario = killScenario({
      async whileDown(dataFolder, kills) {
        if (kills === LOST_AFTER || (kills === 1 && plant === setBack)) await plant(dataFolder, kills);
      },
    });
    const { broken } = await run(scenario, SEED, LOST_AFTER + 1);
    expect(broken.join('\n')).toMatch(rule);
  });
});
