/** A published number turns out to be wrong. */
import assert from 'node:assert/strict';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import { succeeded } from './answers.ts';
import { sendBatch } from './ingest-steps.ts';
import { priceOn, priceRecord, shownPrice } from './records.ts';
import type { Step } from './session.ts';

const CORRECTED = { day: '2025-06-03', amountMinor: 4320, sourceValue: '4320' } as const;

export const correctionSteps: readonly Step[] = [
  {
    says: 'another number for the same observation is a conflict for a batch that appends',
    async run(session) {
      const body = { records: [priceRecord(session.slug('yen'), 'JPY', CORRECTED)] };
      const { state, errors } = await sendBatch(session, { body });
      assert.equal(state, 'refused');
      assert.deepEqual(
        errors.map(({ code }) => code),
        ['conflict.existing'],
      );
    },
  },
  {
    says: 'a batch that corrects changes the number: the market shows the new one, its history both, linked to each other; a retracted number is unknown',
    async run(session) {
      const slug = session.slug('yen');
      const retraction = { type: 'retraction', ...priceOn(slug, '2025-06-02'), reason: 'The exchange was closed.' };
      session.keepPrivate(retraction.reason);
      const body = { mode: 'correct', records: [priceRecord(slug, 'JPY', CORRECTED), retraction] };
      const { state, counts } = await sendBatch(session, { body });
      assert.deepEqual([state, counts.accepted], ['applied', 2]);

      await session.readUntil(marketUrl(slug), (answer) => {
        const { metrics } = succeeded('getMarket', answer);
        assert.deepEqual(metrics, { price: shownPrice(slug, 'JPY', CORRECTED) });
      });

      const before = session.noted('yenBefore');
      await session.readUntil(historyUrl(slug), (answer) => {
        const { data } = succeeded('getMarketHistory', answer);
        assert.equal(data.length, 2 * before.length);
        for (const old of before) {
          const known = data.find(({ id }) => id === old.id);
          const newer = data.find(({ supersedes }) => supersedes === old.id);
          if (newer === undefined) assert.fail(`nothing supersedes ${old.id}`);
          assert.deepEqual(known, { ...old, supersededAt: newer.recordedAt, supersededBy: newer.id });
          assert.deepEqual([newer.supersededAt, newer.supersededBy], [null, null]);
          assert.equal(newer.observedAt, old.observedAt);
          if (newer.kind !== 'money') assert.fail('not money');
          const isRetracted = old.observedAt === retraction.observedAt;
          assert.equal(newer.amountMinor, isRetracted ? null : CORRECTED.amountMinor);
          assert.equal(newer.unknownReason !== null, isRetracted);
        }
      });
    },
  },
];
