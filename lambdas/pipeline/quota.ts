/**
 * The quotas of a subject. The use of a write is counted in the write's own transaction, within limits that the same
 * transaction checks. Pure.
 */
import { FEATURES, type Feature, type FeatureDefinition } from '../../contract/values/features.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { CheckChange, CountChange } from '../../storage/ports/ledger.ts';
import { type EntitlementGrant, type EntitlementsValue, entitlementsKey } from '../../storage/records/accounts.ts';
import type { Entitlements } from '../credentials/account-cache.ts';
import { type CounterOwner, type Counters, changesOfUse, counterKey, isReserved } from './counters.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The subject of a quota, and the moment. */
export interface Quota extends CounterOwner {
  readonly entitlements: Entitlements;
}

/** The amount of a feature that a write takes. A negative amount gives back. */
export interface QuotaUse {
  readonly feature: Feature;
  readonly amount: number;
}

/** The subject's grant of a feature. An expired grant counts as absent. */
export function grantOf(
  features: EntitlementsValue['features'],
  feature: Feature,
  nowMs: number,
): EntitlementGrant | null {
  const grant = features[feature];
  if (grant === undefined) return null;
  return grant.expiresAt === null || Date.parse(grant.expiresAt) > nowMs ? grant : null;
}

/** The limit of a feature: of its grant, else the default. */
export function limitOf({ entitlements, nowMs }: Pick<Quota, 'entitlements' | 'nowMs'>, feature: Feature): number {
  return grantOf(entitlements.features, feature, nowMs)?.limit ?? FEATURES[feature].defaultLimit;
}

/** When the counters of the day start again at 0, in milliseconds since the epoch. */
export function endOfDayMs(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}

/** From where a write takes what it uses. */
export interface Taking {
  /** The reserve that it takes from; null: the counter alone. */
  readonly reserve: number | null;
  /** Counters as they were read, of features of which a transaction was refused. */
  readonly counters: ReadonlyMap<Feature, Counters>;
}

const FROM_COUNTERS: Taking = { reserve: null, counters: new Map() };

/** The counters of these uses, each within its limit. */
export function countedUses(
  quota: Quota,
  uses: readonly QuotaUse[],
  found: ConflictItems,
  { reserve, counters }: Taking = FROM_COUNTERS,
): readonly CountChange[] {
  return uses.flatMap(({ feature, amount }) => {
    // A counter that refuses to go below zero is wrong. That must not keep a subject from giving back.
    if (amount < 0 && found.get(counterKey(quota, feature)) !== undefined) return [];
    const use = { feature, amount, limit: limitOf(quota, feature) };
    return changesOfUse(quota, use, reserve, counters.get(feature));
  });
}

/** Whether concurrent writes with these uses share no item. If so, they must not check the entitlements in their transactions. */
export function areApart(quota: Quota, uses: readonly QuotaUse[], { reserve }: Taking): boolean {
  return reserve !== null && uses.every(({ feature }) => isReserved(feature, limitOf(quota, feature)));
}

/** A check that the limits are still those that are known. */
export function unchangedLimits({
  subject,
  entitlements: { revision },
}: Pick<Quota, 'subject' | 'entitlements'>): CheckChange {
  const condition = revision === null ? ({ kind: 'absent' } as const) : ({ kind: 'revision-is', revision } as const);
  return { kind: 'check', key: entitlementsKey(subject), if: condition };
}

export function isCountedByWrites(feature: Feature): boolean {
  const definition: FeatureDefinition = FEATURES[feature];
  return definition.eachWrite === true;
}
