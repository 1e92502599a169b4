/**
 * Erases the records of a subject, one by one. Each step searches for the remaining records of its kind. So after a crash, the
 * next worker continues, and two workers at the same time do no harm.
 */
import { ERASED } from '../../contract/values/erased.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { dropped, put, replaced } from '../../storage/ports/changes.ts';
import type { Change, Item, Ledger } from '../../storage/ports/ledger.ts';
import { type KeyRange, queryPages } from '../../storage/ports/paging.ts';
import {
  API_KEYS,
  answersOf,
  apiKeyKey,
  entitlementsKey,
  erasureKey,
  RESERVES,
  reservesOf,
  usageOf,
  waitlistRequestOf,
  watchlistsOf,
} from '../../storage/records/accounts.ts';
import { workKey } from '../../storage/records/batches.ts';
import { type MarketRecordValue, marketKey } from '../../storage/records/markets.ts';
import {
  type ClaimValue,
  claimKey,
  claimsOfSubject,
  VERIFICATIONS,
  type VerificationValue,
  verificationKeys,
} from '../../storage/records/review.ts';
import { LAST_WRITE_MS } from '../credentials/account-cache.ts';
import { changedMarket } from '../markets/market-changes.ts';
import { standingOf } from '../markets/rules/standing.ts';
import { serviceAudits } from '../review/audit-changes.ts';
import { changedClaim, claimTarget } from '../review/claim-record.ts';
import { CLAIM_TRANSITIONS } from '../review/transitions.ts';
import { missingItem } from '../worker/contended.ts';

export interface ErasureDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId' | 'newId'> {
  readonly ledger: Ledger;
}

const ACTION = 'system:erasure';

/** The number of items of one query. */
const PAGE_ITEMS = 100;

/**
 * Does the worker's part of an erasure, and removes it from the queue. An account's erasure waits until its keys can no longer
 * write. May be called again at any time.
 *
 * @throws StorageUnavailable if storage fails: call it again later
 */
export async function runErasure(dependencies: ErasureDependencies, id: string): Promise<'done' | 'later'> {
  const { ledger, nowMs } = dependencies;
  const record = await ledger.get(erasureKey(id));
  const { subject, requestedAt } = record?.value ?? (await missingItem(dependencies, erasureKey(id), workKey(id)));
  const isAccount = waitlistRequestOf(subject) !== null;
  if (isAccount && nowMs() < Date.parse(requestedAt) + LAST_WRITE_MS) return 'later';
  await eraseCredentials(dependencies, subject);
  await deleteAll(dependencies, watchlistsOf(subject));
  await deleteAll(dependencies, usageOf(subject));
  for (const reserve of RESERVES) await deleteAll(dependencies, reservesOf(subject, reserve));
  await eraseEntitlements(dependencies, subject);
  await eraseClaims(dependencies, subject, id);
  await eraseVerifications(dependencies, subject);
  await untilCommitted(dependencies, async () => {
    const item = await ledger.get(erasureKey(id));
    const workDone = dropped(workKey(id));
    if (item === null || item.value.finishedAt !== null) return [workDone];
    return [replaced(item, { ...item.value, finishedAt: new Date(nowMs()).toISOString() }), workDone];
  });
  return 'done';
}

/** Erases the stored answers of all credentials of the subject, and the labels of its keys, also revoked ones. */
async function eraseCredentials(dependencies: ErasureDependencies, subject: string): Promise<void> {
  const { ledger } = dependencies;
  if (waitlistRequestOf(subject) === null) {
    await deleteAll(dependencies, answersOf(subject));
    return;
  }
  for await (const { sort, value } of itemsOf(ledger, API_KEYS)) {
    if (value.subject !== subject) continue;
    await untilCommitted(dependencies, async () => {
      const item = await ledger.get(apiKeyKey(sort));
      return item === null || item.value.label === ERASED ? [] : [replaced(item, { ...item.value, label: ERASED })];
    });
    await deleteAll(dependencies, answersOf(`key:${sort}`));
  }
}

/**
 * The item is emptied, not deleted. A deleted item would start again with an old revision, and a cache would take that for
 * current.
 */
async function eraseEntitlements(dependencies: ErasureDependencies, subject: string): Promise<void> {
  await untilCommitted(dependencies, async () => {
    const item = await dependencies.ledger.get(entitlementsKey(subject));
    if (item === null || Object.keys(item.value.features).length === 0) return [];
    return [replaced(item, { features: {} })];
  });
}

/**
 * A claim leaves its subject's list in the transaction that erases it. So the list holds the claims that are still to
 * be erased.
 */
async function eraseClaims(dependencies: ErasureDependencies, subject: string, erasure: string): Promise<void> {
  const { ledger, nowMs, newId } = dependencies;
  for await (const listed of itemsOf(ledger, claimsOfSubject(subject))) {
    const unlisted = dropped(listed);
    await untilCommitted(dependencies, async () => {
      const claim = await ledger.get(claimKey(listed.sort));
      if (claim === null) return [unlisted];
      const slug = represents(claim);
      const market = slug === null ? null : await ledger.get(marketKey(slug));
      const now = new Date(nowMs()).toISOString();
      const ofMarket = market === null ? [] : withoutRepresentation(claim, market, now);
      const targets = [claimTarget(listed.sort), ...(ofMarket.length === 0 ? [] : [`market/${slug}`])];
      const audits = serviceAudits(ACTION, targets, { newId, at: now, requestId: erasure });
      return [unlisted, ...erasedClaim(claim, now), ...ofMarket, ...audits];
    });
  }
}

/** Reads all verifications: erasures are too few for a list by subject. */
async function eraseVerifications(dependencies: ErasureDependencies, subject: string): Promise<void> {
  for await (const item of itemsOf(dependencies.ledger, VERIFICATIONS)) {
    const before = item.value;
    if (before.subjectOwner !== subject) continue;
    const value: VerificationValue = { ...before, note: null, found: null, subjectOwner: ERASED };
    // No other writer changes a verification, so no condition is needed.
    const copies = verificationKeys(value).map((key) => put(key, item.revision, value));
    await untilCommitted(dependencies, async () => copies);
  }
}

async function deleteAll(dependencies: ErasureDependencies, range: KeyRange<unknown>): Promise<void> {
  for await (const item of itemsOf(dependencies.ledger, range)) {
    await untilCommitted(dependencies, async () => [dropped(item)]);
  }
}

/** Decides again after each refusal. A refusal means that another writer made progress. */
async function untilCommitted(
  { ledger, newAttemptId }: ErasureDependencies,
  decide: () => Promise<readonly Change[]>,
): Promise<void> {
  for (;;) {
    const changes = await decide();
    if (changes.length === 0) return;
    const { committed } = await ledger.transact(changes, { attemptId: newAttemptId() });
    if (committed) return;
  }
}

async function* itemsOf<Value>(ledger: Pick<Ledger, 'query'>, range: KeyRange<Value>): AsyncGenerator<Item<Value>> {
  for await (const items of queryPages(ledger, range, { limit: PAGE_ITEMS })) yield* items;
}

/**
 * Blanks every text and the owner, whose `sub` may be an address, and removes all evidence. An undecided claim is withdrawn, because nothing is left to decide on.
 */
function erasedClaim(claim: Item<ClaimValue>, now: string): readonly Change[] {
  const { assertion, decision, reviewNote, state } = claim.value;
  const value: ClaimValue = {
    ...claim.value,
    subject: ERASED,
    assertion:
      assertion.type === 'representation'
        ? { ...assertion, name: ERASED, reason: ERASED }
        : { ...assertion, reason: ERASED },
  };
  const patch = {
    state: CLAIM_TRANSITIONS[state].withdraw ?? state,
    evidence: [],
    reviewNote: reviewNote && ERASED,
    decision: decision && { ...decision, note: ERASED },
  };
  return changedClaim({ ...claim, value }, patch, now).changes;
}

/** The market whose representation was claimed; null for any other claim. */
function represents({ value: { assertion } }: Item<ClaimValue>): string | null {
  return assertion.type === 'representation' ? assertion.market : null;
}

/**
 * Removes the name that the claim has put on the market. Empty if the claim put no name there, or a later claim
 * replaced it.
 */
function withoutRepresentation(
  { value: { id, assertion } }: Item<ClaimValue>,
  market: Item<MarketRecordValue>,
  now: string,
): readonly Change[] {
  const standing = standingOf(market.value);
  if (standing.representedBy?.claim !== id) return [];
  return changedMarket(assertion.market, market, { standing: { ...standing, representedBy: null } }, now);
}
