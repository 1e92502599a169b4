/** Which value shows again after a mistake is decided only on a history that is completely visible. */
import { expect, test } from 'vitest';
import { runBatch } from '../../lambdas/ingest/run-batch.ts';
import { Contended } from '../../lambdas/worker/contended.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import { marketKey, OBSERVATION_PREFIX } from '../../storage/records/markets.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { wrappedLedger } from '../storage/wrapped-ledger.ts';
import { ASSERTIONS, act, filed, openClaimWorld } from '../write-api/claim-world.ts';
import { queueBatch } from './queued-batch.ts';

/** While a transaction is being committed, its items become visible one by one: one observation is not there yet. */
function lagging(ledger: Ledger, hidden: { day: string | null }): Ledger {
  return wrappedLedger(ledger, {
    async query(partition, options) {
      const page = await ledger.query(partition, options);
      const isHidden = (sort: string) => hidden.day !== null && sort.startsWith(OBSERVATION_PREFIX + hidden.day);
      return { ...page, items: page.items.filter(({ sort }) => !isHidden(sort)) };
    },
  });
}

function mistake(day: number) {
  const { metric, observedAt, sourceUrl } = price('gold', day, 1) as unknown as Record<string, string>;
  return {
    type: 'retraction',
    kind: 'mistake',
    market: 'gold',
    metric,
    observedAt,
    sourceUrl,
    reason: 'of another metal',
  };
}

test('a batch is tried again until it sees everything', async () => {
  const world = createWorld();
  await world.ingest([market('gold'), price('gold', 0, 100), price('gold', 1, 101), price('gold', 2, 102)]);
  const id = await queueBatch(world.ledger, 'bat_of-a-mistake', [mistake(2)]);
  const hidden = { day: '2026-01-02' as string | null };
  const dependencies = { ...world.dependencies, ledger: lagging(world.ledger, hidden) };
  const shown = async () => (await world.ledger.get(marketKey('gold')))?.value.latest.price?.metric;
  await expect(runBatch(dependencies, id)).rejects.toThrow(Contended);
  expect(await shown()).toMatchObject({ amountMinor: 102 });
  hidden.day = null;
  expect(await runBatch(dependencies, id)).toBe('done');
  expect(await shown()).toMatchObject({ amountMinor: 101 });
});

test('a claim is answered 503, and the same request succeeds later', async () => {
  const hidden = { day: null as string | null };
  const { ledger } = await openClaimWorld();
  const world = await openClaimWorld({ ledger: lagging(ledger, hidden), process: 'second' });
  const id = await filed(world, { ...ASSERTIONS.retraction, kind: 'mistake' });
  expect((await act(world, id, 'start')).status).toBe(200);
  hidden.day = '2026-11-17';
  const refused = await act(world, id, 'accept');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  hidden.day = null;
  expect((await act(world, id, 'accept')).status).toBe(200);
  const record = await ledger.get(marketKey('gold-usd'));
  expect(record?.value.latest.price?.metric).toMatchObject({ amountMinor: 411000 });
});
