/** Many values that become effective at one moment. Counted in the ledger's own time, not by a clock. */
import { expect, test } from 'vitest';
import { ingestBatch } from '../../lambdas/ingest/ingest-batch.ts';
import { runWork } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import { idsBy, systemRuntime } from '../../storage/aws/runtime.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { checkpointKey } from '../../storage/records/batches.ts';
import { ANNOUNCED_MARKETS } from '../../storage/records/markets.ts';
import { NOW_MS } from '../../tools/bench/synthetic-ledger.ts';
import { market, price } from '../publisher/world.ts';
import { ModelledTime, openModelledLedger } from './modelled-ledger.ts';
import { queueBatch } from './queued-batch.ts';

const MARKETS = 300;
const HOUR_MS = 3_600_000;

test('they take little time each, and a batch that comes meanwhile does not wait for all of them', async () => {
  const time = new ModelledTime(1);
  const ledger = openModelledLedger(time);
  let aheadMs = 0;
  const nowMs = () => NOW_MS + time.nowMs() + aheadMs;
  const { pause, random } = time;
  const runtime = { ...systemRuntime, nowMs, pause, random, newId: idsBy({ ...systemRuntime, nowMs }) };
  const dependencies = { ...runtime, ledger };
  const slugs = Array.from({ length: MARKETS }, (_, index) => `market-${index}`);
  const observedAt = new Date(NOW_MS + HOUR_MS).toISOString();
  const first = { id: 'bat_1', subject: 'operator', mode: 'append', partial: false, dryRun: false } as const;
  const announced = slugs.map((slug) => ({ ...price(slug, 0, 5_000), observedAt, announced: true }));
  await time.pass(ingestBatch(dependencies, first, [...slugs.map((slug) => market(slug)), ...announced]));

  aheadMs = HOUR_MS;
  const startedAtMs = time.nowMs();
  const second = queueBatch(ledger, 'bat_2', [market('gold')]);
  await time.pass(second);
  let batchDoneAfterMs = 0;
  const work = runWork({
    ...dependencies,
    owner: 'one',
    runners: createRunners(dependencies),
    transactionsAtOnce: 8,
    failed: (_, error) => {
      throw error;
    },
    afterStep: async () => {
      if (batchDoneAfterMs > 0 || (await ledger.get(checkpointKey('bat_2'))) === null) return;
      batchDoneAfterMs = time.nowMs() - startedAtMs;
    },
  });
  await time.pass(work);
  const seconds = (time.nowMs() - startedAtMs) / 1000;
  const left = readAll(ledger, ANNOUNCED_MARKETS);
  await time.pass(left);
  expect(await left).toEqual([]);
  expect(batchDoneAfterMs / 1000).toBeLessThan(2);
  // One market after the other would take 30 s.
  expect(seconds).toBeLessThan(6);
});
