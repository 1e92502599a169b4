/**
 * The records of format 2 that are different in format 3. For the migration only.
 *
 * | partition       | sort                  | holds                                                                  |
 * |-----------------|-----------------------|------------------------------------------------------------------------|
 * | `market/<slug>` | `record`              | as now, without `updatedAt`, other sources and times of release        |
 * | `market/<slug>` | `observation/<order>` | as now, without `releasedAt`, `retraction` and `supersededAt`          |
 */
import type { Metric, Observation } from '../../contract/metric.ts';
import type { ItemKey } from '../ledger.ts';
import type { PrefixRange } from '../paging.ts';
import { type MarketRecordValue, marketKey, observationsOf } from './markets.ts';

type Without<Value, Name extends PropertyKey> = Value extends unknown ? Omit<Value, Name> : never;

export type Metric2 = Without<Metric, 'releasedAt'>;

/** `updatedAt` is there once the market is migrated. */
export type MarketValue2 = Omit<MarketRecordValue, 'latest' | 'updatedAt'> & {
  latest: { [metric: string]: { order: string; metric: Metric2 } };
  updatedAt?: string | null;
};
export const marketKey2 = (slug: string): ItemKey<MarketValue2> => {
  const { partition, sort } = marketKey(slug);
  return { partition, sort };
};

/** The fields of format 3 are there once the observation is migrated. */
export type Observation2 = Without<Observation, 'releasedAt' | 'retraction' | 'supersededAt'> & {
  retraction?: Observation['retraction'];
};
export const observationsOf2 = (slug: string): PrefixRange<Observation2> => {
  const { partition, prefix } = observationsOf(slug);
  return { partition, prefix };
};
