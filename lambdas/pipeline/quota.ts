/**
 * The quotas of a subject. The use of a write is counted in the write's own transaction, within limits that the same
 * transaction checks. Pure.
 */
import { FEATURES, type Feature } from '../../contract/values/features.ts';
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

/** The amount of a feature that a write uses. A negative amount returns used quota. */
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

/** The limit of a feature: from the subject's grant, or else the default. */
export function limitOf({ entitlements, nowMs }: Pick<Quota, 'entitlements' | 'nowMs'>, feature: Feature): number {
  return grantOf(entitlements.features, feature, nowMs)?.limit ?? FEATURES[feature].defaultLimit;
}

/** The time when the daily counters start again at 0, in milliseconds since the epoch. */
export function endOfDayMs(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}

/** The counters from which a write takes its uses. */
export interface Taking {
  /** The reserve to take from; null: take from the counter alone. */
  readonly reserve: number | null;
  /** The counters that were read, of the features that refused a transaction. */
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
    // A counter that would go below zero is wrong. This must not prevent a subject from returning quota, so it is left out.
    if (amount < 0 && found.get(counterKey(quota, feature)) !== undefined) return [];
    const use = { feature, amount, limit: limitOf(quota, feature) };
    return changesOfUse(quota, use, reserve, counters.get(feature));
  });
}

/** Whether concurrent writes with these uses have no item in common. Then their transactions must not check the entitlements. */
export function areApart(quota: Quota, uses: readonly QuotaUse[], { reserve }: Taking): boolean {
  return reserve !== null && uses.every(({ feature }) => isReserved(feature, limitOf(quota, feature)));
}

/** A check that the known limits are still current. */
export function unchangedLimits({
  subject,
  entitlements: { revision },
}: Pick<Quota, 'subject' | 'entitlements'>): CheckChange {
  const condition = revision === null ? ({ kind: 'absent' } as const) : ({ kind: 'revision-is', revision } as const);
  return { kind: 'check', key: entitlementsKey(subject), if: condition };
}
