/**
 * The quotas of a subject. What a write uses is counted in the write's own transaction, within limits that the same
 * transaction checks. Pure.
 */
import { FEATURES, type Feature, type FeatureDefinition } from '../../contract/values/features.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { CheckChange, CountChange, ItemKey } from '../../storage/ports/ledger.ts';
import {
  type EntitlementGrant,
  type EntitlementsValue,
  entitlementsKey,
  usageKey,
} from '../../storage/records/accounts.ts';
import type { Entitlements } from '../credentials/account-cache.ts';
import { OPERATOR_SUBJECT } from '../credentials/operator-key.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The subject of a quota, and the moment. */
export interface Quota {
  readonly subject: string;
  /** The credential whose use is counted. */
  readonly actor: string;
  readonly entitlements: Entitlements;
  readonly nowMs: number;
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

/**
 * A feature that is counted per day has a counter for each day. The keys of operators and of their feeds all have one
 * subject. Each of them has counters of its own, so that a feed whose key was stolen cannot use up the day of the others.
 */
export function counterKey({ subject, actor, nowMs }: Omit<Quota, 'entitlements'>, feature: Feature): ItemKey<number> {
  if (FEATURES[feature].kind !== 'rate') return usageKey(subject, feature, null);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return usageKey(subject === OPERATOR_SUBJECT ? actor : subject, feature, day);
}

/** When the counters of the day start again at 0, in milliseconds since the epoch. */
export function endOfDayMs(nowMs: number): number {
  return (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
}

/** The counters of these uses, each within its limit. */
export function countedUses(quota: Quota, uses: readonly QuotaUse[], found: ConflictItems): readonly CountChange[] {
  return uses.flatMap(({ feature, amount }): CountChange[] => {
    const key = counterKey(quota, feature);
    // A counter that refuses to go below zero is wrong. That must not keep a subject from giving back.
    if (amount < 0 && found.get(key) !== undefined) return [];
    const atMost = amount < 0 ? Number.MAX_SAFE_INTEGER : limitOf(quota, feature);
    // A day's counter is not used after that day.
    const expiry = FEATURES[feature].kind === 'rate' ? { expiresAtMs: quota.nowMs + 2 * DAY_MS } : {};
    return [{ kind: 'count', key, by: amount, atLeast: 0, atMost, ...expiry }];
  });
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
