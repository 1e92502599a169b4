/**
 * The unit of work: the only place where the write API changes the ledger. One transaction holds
 *
 * 1. the idempotency record of actor and key, if absent or expired;
 * 2. the audit records;
 * 3. the mutation with its conditions, and the marks of everything public that it changes;
 * 4. the quota counters, within the limits, and a check that the limits are unchanged; or the reserves of busy counters.
 *
 * So there is no state in between: either a request has its effect and its answer is stored, or it has changed nothing. A
 * second copy of a request is refused by (1), whose item holds the answer. If an answer of the ledger is lost, the same
 * attempt is made again and recognises itself (see the port).
 *
 * It is also the only place that knows all markets that a write changes. So it enforces the limit of an API key to some
 * markets.
 */

import { firstOutside } from '../../contract/files/feed-authority.ts';
import { operationOf, type WriteOperationId } from '../../contract/operations/operations.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { FEATURES, type Feature } from '../../contract/values/features.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { ConflictItems } from '../../storage/ports/conflict-items.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Change, Item, ItemKey, Ledger, TransactResult } from '../../storage/ports/ledger.ts';
import {
  API_KEYS,
  type EntitlementsValue,
  entitlementsKey,
  type IdempotencyValue,
  idempotencyKey,
} from '../../storage/records/accounts.ts';
import { slugOfMarketKey } from '../../storage/records/markets.ts';
import { knownEntitlements } from '../credentials/account-cache.ts';
import type { Authenticator } from '../credentials/principal.ts';
import { etagOf } from '../http/headers.ts';
import { RefusedRequest, refusal } from '../http/refused-request.ts';
import type { AuditChains, AuditLink } from '../review/audit-chains.ts';
import { auditChanges } from '../review/audit-changes.ts';
import { areAsRead, type Counters, counterKey, hasRefused, readCounters, reserveOf, usedOf } from './counters.ts';
import type { Commit, OperationRequest, WriteHandler, WriteTools } from './handler.ts';
import {
  areApart,
  countedUses,
  endOfDayMs,
  limitOf,
  type Quota,
  type QuotaUse,
  type Taking,
  unchangedLimits,
} from './quota.ts';
import { pseudonymised, SEAL_IV_BYTES, type Secrets } from './secrets.ts';

const IDEMPOTENCY_LIFETIME_MS = 72 * 60 * 60 * 1000;

/** How often a write may be decided. It is decided again when other writers have changed items that the decision depends on. */
const MAX_DECISIONS = 8;

/** Tries of one attempt while storage does not answer, and the pause before the second try. */
const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 40;

/**
 * The last decision or attempt begins at most this long after the beginning of the write, because a client waits for the
 * answer. A second attempt helps if storage fails immediately, but not if it does not answer.
 */
export const LAST_BEGIN_MS = 2_000;

export interface CommitDependencies extends Pick<Runtime, 'nowMs' | 'newAttemptId' | 'randomBytes' | 'pause'> {
  readonly ledger: Ledger;
  readonly secrets: Secrets;
  /** Signs the targets of large files. Without it, large files are refused. */
  readonly uploads?: WriteTools['uploads'];
  /** Learns the entitlements that the ledger has returned, and forgets keys that a write has changed. */
  readonly authenticator: Pick<Authenticator, 'learn' | 'forget'>;
  readonly chains: AuditChains;
  /** Whether writes use reserves of busy counters. Default: false, for a ledger that commits one transaction after the other. */
  readonly usesReserves?: boolean;
}

/** The identity of a write: actor, key and request. */
export interface WriteIdentity {
  readonly idempotencyKey: string;
  readonly fingerprint: string;
  readonly requestId: string;
}

declare const COMMITTED: unique symbol;

/** The answer of a write that is in the ledger, from this request or an earlier copy. Only this file can create one. */
export interface Committed {
  readonly [COMMITTED]: true;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Canonical JSON; empty for 204. */
  readonly body: string;
  readonly replayed: boolean;
}

/**
 * Decides and commits. Costs one transaction, plus the reads of the handler.
 *
 * @throws RefusedRequest; StorageUnavailable if the outcome is unknown: the client must send the request again with the same key
 */
export async function commitWrite<Id extends WriteOperationId>(
  dependencies: CommitDependencies,
  asked: OperationRequest<Id>,
  handler: WriteHandler<Id, unknown>,
  identity: WriteIdentity,
): Promise<Committed> {
  const { ledger, authenticator, uploads = null } = dependencies;
  const lastBeginMs = dependencies.nowMs() + LAST_BEGIN_MS;
  let request = asked;
  const { kind, subject, actor } = request.principal;
  // The actor of a user may be a pseudonym. So a user's answers are stored, and erased, by subject.
  const idempotency = idempotencyKey(kind === 'user' ? subject : actor, identity.idempotencyKey);
  let found = new ConflictItems();
  let taking: Taking = {
    reserve: dependencies.usesReserves ? reserveOf(identity.idempotencyKey) : null,
    counters: new Map(),
  };
  const learnt = (item: Item<EntitlementsValue> | null): OperationRequest<Id> => {
    authenticator.learn(subject, item);
    return { ...request, principal: { ...request.principal, entitlements: knownEntitlements(item) } };
  };
  const readAgain = async (uses: readonly QuotaUse[]) => {
    const features = [...taking.counters.keys(), ...uses.map(({ feature }) => feature)];
    taking = { ...taking, counters: await readCounters(ledger, quotaOf(request), features) };
  };
  for (let decisions = 0; decisions < MAX_DECISIONS && dependencies.nowMs() <= lastBeginMs; decisions++) {
    const view = await handler.read?.(request, ledger, { uploads });
    const named = handler.markets?.(request, view) ?? [];
    const outside = firstOutside(request.principal.markets, named);
    if (outside !== null) {
      throw refusal('forbidden', `This API key may not write to the market ${outside}. Use a key that may.`);
    }
    let decision: Commit<Id>;
    try {
      decision = handler.decide(request, view, found);
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      // The decision may be refused because an earlier copy of this request has changed the state. So the idempotency record is
      // read after the decision, never before.
      const [earlier, granted] = await ledger.getMany([idempotency, entitlementsOf(request)]);
      const answer = replay(dependencies, earlier, idempotency, identity, request.nowMs);
      if (answer !== null) return answer;
      // The refusal may also depend on cached entitlements, which no transaction has checked.
      if ((granted?.revision ?? null) === request.principal.entitlements.revision) throw error;
      request = learnt(granted);
      continue;
    }
    mustBeNamed(request, decision, named);
    const quota = quotaOf(request);
    const uses = usesOf(request, decision);
    const isApart = uses.length > 0 && areApart(quota, uses, taking);
    if (isApart) {
      // Reserves do not store limits, so the grant is read. A grant that changes after this read counts as later than this
      // write.
      const counters = uses.map(({ feature }) => counterKey(quota, feature));
      const [granted, ...counts] = await ledger.getMany([entitlementsOf(request), ...counters]);
      if ((granted?.revision ?? null) !== quota.entitlements.revision) {
        request = learnt(granted);
        continue;
      }
      // After a limit was reduced, the counter and its reserves may exceed the new limit.
      const over = uses.filter(({ feature }, index) => (counts[index]?.value ?? 0) > limitOf(quota, feature));
      if (over.length > 0) await readAgain(over);
    }
    const limits = operationOf(request.operation).features === undefined || isApart ? [] : [unchangedLimits(quota)];
    const counted = [...countedUses(quota, uses, found, taking), ...limits];
    const unit = makeUnit(dependencies, request, decision, counted, idempotency, identity);
    const result = await transactWithRetry(dependencies, unit.changes, lastBeginMs);
    if (result.committed) {
      if (decision.isUnchanged) unit.link.refused();
      else unit.link.committed();
      // A changed key takes effect in this process at once.
      for (const { key } of unit.changes) if (key.partition === API_KEYS.partition) authenticator.forget(key.sort);
      return unit.answer;
    }
    unit.link.refused();

    found = new ConflictItems(unit.changes, result.refusals);
    const earlier = found.get(idempotency);
    if (earlier) {
      const answer = replay(dependencies, earlier, idempotency, identity, request.nowMs);
      if (answer !== null) return answer;
    }
    const entitlements = found.get(entitlementsOf(request));
    if (entitlements !== undefined) {
      request = learnt(entitlements);
      continue;
    }
    const full = uses.filter(({ feature, amount }) => amount > 0 && hasRefused(quota, feature, found));
    if (full.length === 0) continue;
    await readAgain(full);
    const exceeded = exceededUse(quota, uses, taking.counters);
    if (exceeded === null) continue;
    if (exceeded.found.reserves.length === 0) throw exceeded.refused;
    // These items were read one by one, so a refill or an earlier copy of this request may be invisible. The checks confirm the
    // refusal.
    const isNew = { kind: 'absent-or-expired', atMs: request.nowMs } as const;
    const checks = [
      ...areAsRead(quota, exceeded.feature, exceeded.found),
      { kind: 'check', key: idempotency, if: isNew } as const,
    ];
    if ((await ledger.transact(checks, { attemptId: dependencies.newAttemptId() })).committed) throw exceeded.refused;
  }
  throw refusal('contention', 'Other writers are changing the same resource: retry with the same Idempotency-Key.', {
    headers: { 'retry-after': '1' },
  });
}

interface Unit {
  readonly changes: readonly Change[];
  readonly answer: Committed;
  readonly link: AuditLink;
}

function makeUnit<Id extends WriteOperationId>(
  { secrets, randomBytes, chains }: CommitDependencies,
  request: OperationRequest<Id>,
  decision: Commit<Id>,
  counted: readonly Change[],
  idempotency: ItemKey<IdempotencyValue>,
  { fingerprint, requestId }: WriteIdentity,
): Unit {
  const { actor } = request.principal;
  const { success } = operationOf(request.operation);
  const { body, revision, location } = decision.response;
  const text = success.body === null ? '' : canonicalJson(body as Json);
  const headers = {
    ...(revision === undefined ? {} : { etag: etagOf(revision) }),
    ...(location === undefined ? {} : { location }),
  };
  const stored: IdempotencyValue = {
    fingerprint,
    status: success.status,
    headers,
    sealedBody: secrets.seal(text, sealContext(idempotency), randomBytes(SEAL_IV_BYTES)),
  };
  const id = request.newId('aud');
  const target = pseudonymised(secrets, decision.target);
  const link = chains.link({ id, at: request.now, actor, action: request.operation, target, requestId, fingerprint });
  const changes: Change[] = [
    {
      kind: 'put',
      key: idempotency,
      revision: 0,
      value: stored,
      expiresAtMs: request.nowMs + IDEMPOTENCY_LIFETIME_MS,
      if: { kind: 'absent-or-expired', atMs: request.nowMs },
    },
    ...(decision.isUnchanged ? [] : auditChanges(link.audit, decision.changes)),
    ...decision.changes,
    ...counted,
  ];
  const answer = { status: success.status, headers, body: text, replayed: false } as Omit<Committed, typeof COMMITTED>;
  return { changes, answer: answer as Committed, link };
}

/** A handler that changes a market without naming it would bypass the key's limit to markets: a fault of the code. */
function mustBeNamed(
  { operation }: OperationRequest,
  { changes }: Pick<Commit<WriteOperationId>, 'changes'>,
  named: readonly string[],
): void {
  for (const { kind, key } of changes) {
    const slug = kind === 'check' ? null : slugOfMarketKey(key);
    if (slug === null || named.includes(slug)) continue;
    throw new Error(`${operation} changes the market ${slug}, and its handler does not name it in markets().`);
  }
}

function entitlementsOf({ principal }: OperationRequest): ItemKey<EntitlementsValue> {
  return entitlementsKey(principal.subject);
}

function quotaOf({ principal, nowMs }: OperationRequest): Quota {
  return { ...principal, nowMs };
}

/** Adds one use of each daily limit that counts every write of the operation. */
function usesOf<Id extends WriteOperationId>(
  { operation }: OperationRequest<Id>,
  { uses = [], isUnchanged }: Commit<Id>,
): readonly QuotaUse[] {
  const daily = (operationOf(operation).features ?? []).filter((feature) => 'eachWrite' in FEATURES[feature]);
  return isUnchanged ? uses : [...uses, ...daily.map((feature) => ({ feature, amount: 1 }))];
}

interface Exceeded {
  readonly feature: Feature;
  readonly found: Counters;
  readonly refused: RefusedRequest;
}

/** The first use that exceeds its limit, by these counters. */
function exceededUse(
  quota: Quota,
  uses: readonly QuotaUse[],
  counters: ReadonlyMap<Feature, Counters>,
): Exceeded | null {
  for (const { feature, amount } of uses) {
    const found = counters.get(feature);
    const limit = limitOf(quota, feature);
    if (found === undefined || amount < 0 || usedOf(found) + amount <= limit) continue;
    const { kind, description } = FEATURES[feature];
    const state = `${description}: ${usedOf(found)} of ${limit} used, and this needs ${amount}.`;
    if (kind !== 'rate') {
      return { feature, found, refused: refusal('quota-exceeded', `${state} Delete some, or ask for a higher limit.`) };
    }
    const seconds = Math.ceil((endOfDayMs(quota.nowMs) - quota.nowMs) / 1000);
    const refused = refusal('daily-quota-exceeded', `${state} The count starts again at 0 at 00:00 UTC.`, {
      headers: { 'retry-after': String(seconds) },
    });
    return { feature, found, refused };
  }
  return null;
}

/** The stored answer of an earlier copy; null if the key is new. Refuses a key that was used for another request. */
function replay(
  { secrets }: CommitDependencies,
  item: Item<IdempotencyValue> | null,
  key: ItemKey<IdempotencyValue>,
  identity: WriteIdentity,
  nowMs: number,
): Committed | null {
  if (item === null || (item.expiresAtMs !== null && item.expiresAtMs < nowMs)) return null;
  const { fingerprint, status, headers, sealedBody } = item.value;
  if (fingerprint !== identity.fingerprint) {
    throw refusal(
      'idempotency-key-reused',
      'This Idempotency-Key has been used for another request within 72 hours: use a new key for a new request.',
    );
  }
  const body = secrets.open(sealedBody, sealContext(key));
  const answer = { status, headers, body, replayed: true } as Omit<Committed, typeof COMMITTED>;
  return answer as Committed;
}

function sealContext({ partition, sort }: ItemKey<IdempotencyValue>): string {
  return `${partition}\n${sort}`;
}

/**
 * Repeats the same attempt while its answer is lost and there is time.
 *
 * @throws StorageUnavailable also if there was no time for the first attempt
 */
async function transactWithRetry(
  { ledger, newAttemptId, nowMs, pause }: CommitDependencies,
  changes: readonly Change[],
  lastBeginMs: number,
): Promise<TransactResult> {
  const attemptId = newAttemptId();
  let lost = new StorageUnavailable('reading the items for this write took too long: try again');
  for (let attempt = 1; attempt <= MAX_ATTEMPTS && nowMs() <= lastBeginMs; attempt++) {
    try {
      return await ledger.transact(changes, { attemptId });
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      lost = error;
    }
    if (attempt < MAX_ATTEMPTS) await pause(FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }
  throw lost;
}
