/**
 * A deployment: writers, workers, publishers and sweeps of an older version beside those of this one, on the same ledger and
 * store. Either all promises hold, or the older one refuses the later format with a clear message. Nothing acknowledged is lost.
 */
import { expect, test } from 'vitest';
import { LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { baseOf, isInHistory, mixedWith, openOlderVersion } from '../simulator/older-version.ts';
import { simulate } from '../simulator/simulate.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const SEEDS = 15;

/** The last version of format 3, and one of format 4. */
const OLDER = ['0ea6f22b', 'a748ce3a'];

test.for(OLDER)('beside processes of commit %s, all promises hold', async (commit, context) => {
  if (!isInHistory(commit)) return context.skip(`this clone has no commit ${commit}: fetch the whole history`);
  const older = await openOlderVersion(commit, await temporaryFolder());
  const base = await baseOf(older);
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { wiring, endDeployment: settling, rounds, refusals } = mixedWith(older);
    const { violation } = await simulate(seed, { kind: 'ordinary', base, wiring, settling });
    expect(violation, `seed ${seed}`).toBeNull();
    expect(Math.min(rounds.older, rounds.present), `seed ${seed}`).toBeGreaterThan(0);
    expect(refusals.length > 0, `seed ${seed}`).toBe(older.format < LEDGER_FORMAT);
    for (const message of refusals) expect(message).toMatch(`format ${LEDGER_FORMAT}`);
  }
});
