/** One market without a ledger: each decision is applied to a map, from which the next decision is made. */
import { type IngestMode, type IngestRecordInput, ingestRecordSchema } from '../../contract/ingest/ingest-records.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { decideMarket } from '../../lambdas/markets/decide.ts';
import type { KnownObservation, MarketDecision } from '../../lambdas/markets/market-decision.ts';
import { groupByMarket, rowOf } from '../../lambdas/markets/rows.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import {
  type MarketRecordValue,
  type MarketStanding,
  marketKey,
  OBSERVATION_PREFIX,
  ordinalOf,
} from '../../storage/records/markets.ts';

export interface MarketModel {
  /** Decides and applies. Rows are numbered from 0. */
  decide(records: readonly IngestRecordInput[], mode?: IngestMode): MarketDecision;
  /** Writes a standing into the market's record, as claims and verifications do. */
  give(standing: MarketStanding): void;
  record(): MarketRecordValue & { revision: number };
  /** In the order of history. */
  observations(): readonly Observation[];
}

export function createMarketModel(slug: string): MarketModel {
  const items = new Map<string, Item>();

  const stored = (prefix: string) =>
    [...items.values()]
      .filter(({ sort }) => sort.startsWith(prefix))
      .sort((left, right) => (left.sort < right.sort ? -1 : 1));

  function known(): Map<string, KnownObservation> {
    const found = new Map<string, KnownObservation>();
    for (const { sort, revision, value } of stored(OBSERVATION_PREFIX)) {
      const order = sort.slice(OBSERVATION_PREFIX.length);
      const firstOrder = `${order.slice(0, order.lastIndexOf('/'))}/0000`;
      const newest = value as Observation;
      const { first, stated } = found.get(firstOrder) ?? { first: newest, stated: newest };
      const known = { first, newest, stated: newest.retraction === null ? newest : stated };
      found.set(firstOrder, { ...known, ordinal: ordinalOf(order), revision });
    }
    return found;
  }

  return {
    decide(records, mode = 'append') {
      const decision = decideMarket({
        slug,
        market: (items.get(marketKey(slug).sort) ?? null) as Item<MarketRecordValue> | null,
        known: known(),
        rows:
          groupByMarket(records.map((record, index) => rowOf(index, ingestRecordSchema.parse(record))))[0]?.rows ?? [],
        mode,
        recordedAt: '2026-10-01T12:00:00.000Z',
      });
      for (const change of decision.changes) {
        if (change.kind !== 'put' || change.key.partition !== marketKey(slug).partition) continue;
        const { key, revision, value } = change;
        items.set(key.sort, { ...key, revision, value: structuredClone(value), attemptId: 'model', expiresAtMs: null });
      }
      return decision;
    },
    give(standing) {
      const item = items.get(marketKey(slug).sort) as Item;
      items.set(item.sort, { ...item, value: { ...(item.value as MarketRecordValue), standing } });
    },
    record() {
      const item = items.get(marketKey(slug).sort) as Item;
      return { ...(item.value as MarketRecordValue), revision: item.revision };
    },
    observations: () => stored(OBSERVATION_PREFIX).map(({ value }) => value as Observation),
  };
}
