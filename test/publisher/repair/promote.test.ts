/** A second region goes on with a replica whose last transactions arrived in part, and with a copy of the store. */
import { beforeAll, describe, expect, test } from 'vitest';
import { PUBLIC_PREFIX } from '../../../contract/files/public-objects.ts';
import { checkpointText } from '../../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { EMPTY_ROOT } from '../../../contract/log/merkle.ts';
import { signNote } from '../../../contract/log/notes.ts';
import { publish } from '../../../publisher/publish.ts';
import { LogEntriesLost, promote } from '../../../publisher/repair/promote.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { MARKET_INDEX, type ObservationValue, observationsOf } from '../../../storage/records/markets.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { Random } from '../../simulator/random.ts';
import { type MemoryObjects, openMemoryObjects } from '../../storage/memory-objects.ts';
import { LOG_ORIGIN, TEST_LOG, testLogOf, withLog } from '../log/test-log.ts';
import { type LoggedLedger, openLoggedLedger } from '../logged-ledger.ts';
import { loggedReader } from '../verify/logged-reader.ts';
import { createWorld, dependenciesOn, market, price, SMALL_PAGES, type World } from '../world.ts';
import { replicaOf } from './replica.ts';

const OTHER_LOG = 'tidemark.test/log/2';

let first: World & { readonly ledger: LoggedLedger };
/** The store after each generation, and the checkpoint that readers have of it. */
const stores: MemoryObjects[] = [];
const checkpoints: string[] = [];

beforeAll(async () => {
  const ledger = openLoggedLedger();
  const created = createWorld(SMALL_PAGES, ledger);
  first = { ...created.with(withLog(created.dependencies)), ledger };
  const slugs = ['a', 'b', 'c', 'd', 'e'];
  await first.ingest(slugs.map((slug) => market(slug)));
  await first.ingest(Array.from({ length: 240 }, (_, day) => price('b', -day, day + 1)));
  await next();
  for (let day = 0; day < 5; day++) {
    await first.ingest([price('a', day, 7), price('b', day + 1, 8), price('c', day, null)]);
    await first.ingest([price('b', 0, 100 + day)], 'correct');
    await first.ingest([market(`new-${day}`), price(`new-${day}`, 0, 1)]);
    await next();
  }
});

async function next(): Promise<void> {
  await first.publish();
  const copy = openMemoryObjects();
  for (const [key, { body, metadata }] of first.objects.snapshot()) {
    if (key.startsWith(PUBLIC_PREFIX)) await copy.put(key, body, metadata, { kind: 'absent' });
  }
  stores.push(copy);
  const { body } = await loggedReader(copy)('/api/v1/log/checkpoint');
  checkpoints.push(Buffer.from(body).toString());
}

describe('whatever of the last transactions has arrived, and however old the copy is', () => {
  test.each(Array.from({ length: 8 }, (_, seed) => seed))(
    'all that has arrived becomes public (seed %i)',
    async (seed) => {
      const random = new Random(seed);
      const late = random.int(0, 40);
      const share = random.pick([0, 0.3, 0.8, 1]);
      const replica = await replicaOf(first.ledger, late, () => random.chance(share));
      const objects = (stores[random.int(2, stores.length - 1)] as MemoryObjects).copy();
      const seen = checkpoints.at(-1) as string;
      const dependencies = dependenciesOn(replica.ledger, objects, first.clock);

      const isLost = await promote(dependencies, { seen: [seen] }).then(
        () => false,
        (error: unknown) => {
          expect(error).toBeInstanceOf(LogEntriesLost);
          return true;
        },
      );
      if (isLost) {
        const { lostEntries } = await promote(dependencies, { seen: [seen], newLog: OTHER_LOG });
        expect(lostEntries).toBeGreaterThan(0);
        // A name that the publisher does not have would make two logs of one name.
        await expect(publish(withLog(dependencies))).rejects.toMatchObject({ name: 'LogForked' });
      }
      // Repeated, as after a kill.
      if (random.chance(0.5))
        await promote(dependencies, isLost ? { seen: [seen], newLog: OTHER_LOG } : { seen: [seen] });
      const log = isLost ? testLogOf(OTHER_LOG) : TEST_LOG;
      while ((await publish(withLog(dependencies, log))).isMoreDue);
      const generation = (await replica.ledger.get(HEAD_KEY))?.revision ?? 0;
      expect(generation).toBeGreaterThan((await first.ledger.get(HEAD_KEY))?.revision ?? 0);
      await expectPublished(replica.ledger, objects);
      // The reader who saw the newest checkpoint finds that the log goes on from it, or that it has another name.
      const vkeys = log.signers.map(({ vkey }) => vkey);
      const report = await verifyLog(loggedReader(objects, ...vkeys), {
        vkeys,
        seen: isLost ? null : seen,
        pageSizes: SMALL_PAGES,
      });
      expect(report.findings).toEqual([]);
      // A version may have moved up, and has another id then.
      const contentOf = ({ sourceUrl, observedAt, recordedAt, ...rest }: ObservationValue) =>
        [sourceUrl, observedAt, recordedAt, 'amountMinor' in rest ? rest.amountMinor : ''].join();
      const slugs = (await readAll(replica.ledger, MARKET_INDEX)).map(({ sort }) => sort);
      const histories = await Promise.all(slugs.map((slug) => readAll(replica.ledger, observationsOf(slug))));
      const there = new Set(histories.flat().map(({ value }) => contentOf(value)));
      expect(replica.whole.map(contentOf).filter((content) => !there.has(content))).toEqual([]);
    },
  );
});

test('another log needs another name, and a checkpoint of a stranger is refused', async () => {
  const { ledger } = await replicaOf(first.ledger, 0, () => true);
  const dependencies = dependenciesOn(ledger, (stores.at(-1) as MemoryObjects).copy(), first.clock);
  await expect(promote(dependencies, { newLog: LOG_ORIGIN })).rejects.toThrow(RangeError);
  const strange = await signNote(
    checkpointText({ origin: OTHER_LOG, size: 1, root: EMPTY_ROOT }),
    testLogOf(OTHER_LOG).signers,
  );
  await expect(promote(dependencies, { seen: [strange] })).rejects.toThrow(LogFaultError);
  // Nothing was changed by them.
  expect((await ledger.get(HEAD_KEY))?.revision).toBe((await first.ledger.get(HEAD_KEY))?.revision);
});

/** Everything in the ledger is public, and `verify` finds nothing. */
async function expectPublished(ledger: Ledger, objects: MemoryObjects): Promise<void> {
  const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
  const histories = await Promise.all(slugs.map((slug) => readAll(ledger, observationsOf(slug))));
  const report = await verify(loggedReader(objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(report).toMatchObject({ findings: [], markets: slugs.length, observations: histories.flat().length });
}
