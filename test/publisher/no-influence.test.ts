/** No entitlement, key or payment changes what is published. */
import { expect, test } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import { rebuild } from '../../publisher/repair/rebuild.ts';
import type { ItemKey } from '../../storage/ports/ledger.ts';
import {
  type ApiKeyValue,
  apiKeyKey,
  type EntitlementGrant,
  entitlementsKey,
  type IdempotencyValue,
  idempotencyKey,
  usageKey,
  type WaitlistRequestValue,
  type WatchlistValue,
  waitlistRequestKey,
  watchlistKey,
} from '../../storage/records/accounts.ts';
import { type AuditValue, auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { type PublicationValue, publicationKey } from '../../storage/records/publication.ts';
import {
  type ClaimValue,
  claimKey,
  claimsInState,
  claimsOfSubject,
  type VerificationValue,
  verificationKey,
  verificationsOfMarket,
} from '../../storage/records/review.ts';
import { createWorld, market, price, type World } from './world.ts';

const AT = '2026-09-30T08:00:00Z';
const SUBJECT = 'account:waitlist_01JD0000000000000000000000';
const ACTOR = 'key:01JD0000000000000000000001';
const CLAIM = 'claim_01JD0000000000000000000002';
const VERIFICATION = 'verification_01JD0000000000000000000003';

const audit: AuditValue = {
  id: '01JD0000000000000000000004',
  at: AT,
  actor: ACTOR,
  action: 'fileClaim',
  target: `claim/${CLAIM}`,
  requestId: '01JD0000000000000000000005',
  fingerprint: '0123',
};
const apiKey: ApiKeyValue = {
  id: '01JD0000000000000000000001',
  subject: SUBJECT,
  label: 'the best customer',
  scopes: ['claims:write', 'ingest:write'],
  secretHash: '0123',
  previousSecret: null,
  createdAt: AT,
  expiresAt: null,
  revokedAt: null,
};
const request: WaitlistRequestValue = {
  id: 'waitlist_01JD0000000000000000000000',
  contact: 'somebody@rich.example',
  useCase: 'To stand first in the list',
  requestsPerDay: 1_000_000,
  consentedAt: AT,
  state: 'approved',
  note: 'pays well',
  keys: ['01JD0000000000000000000001'],
  createdAt: AT,
  decidedAt: AT,
};
const grant: EntitlementGrant = { limit: 1_000, revision: 1, grantedAt: AT, expiresAt: null };
const watchlist: WatchlistValue = { name: 'All', markets: ['b', 'a'], updatedAt: AT };
const claim: ClaimValue = {
  id: CLAIM,
  subject: SUBJECT,
  state: 'submitted',
  assertion: { type: 'representation', market: 'a', name: 'The Best Customer Ltd', reason: 'We pay.' },
  evidence: [{ url: 'https://rich.example/evidence', note: null, addedAt: AT }],
  createdAt: AT,
  updatedAt: AT,
  decision: null,
  reviewNote: null,
  observationId: null,
};
const verification: VerificationValue = {
  id: VERIFICATION,
  market: 'a',
  subject: { type: 'source', url: 'https://example.com/a' },
  outcome: 'confirmed',
  verifiedAt: AT,
  found: null,
  note: null,
  createdAt: AT,
  subjectOwner: SUBJECT,
};
const publication: PublicationValue = { id: 'publication_1', markets: ['a'], purge: true, createdAt: AT };
const idempotency: IdempotencyValue = { fingerprint: '0123', status: 201, headers: {}, sealedBody: 'AAAA' };

const ACCOUNTS: readonly (readonly [ItemKey, object | number | null])[] = [
  [idempotencyKey(ACTOR, 'a'.repeat(16)), idempotency],
  [{ partition: auditOfActor(ACTOR).partition, sort: audit.id }, audit],
  [{ partition: auditOfTarget(audit.target).partition, sort: audit.id }, audit],
  [apiKeyKey(apiKey.id), apiKey],
  [waitlistRequestKey(request.id), request],
  [entitlementsKey(SUBJECT), { 'api-keys': grant, watchlists: grant, 'ingest-rows-per-day': grant }],
  [usageKey(SUBJECT, 'watchlists', null), 7],
  [usageKey(SUBJECT, 'claims-per-day', '2026-09-30'), 7],
  [watchlistKey(SUBJECT, 'watchlist_1'), watchlist],
  [claimKey(CLAIM), claim],
  [{ partition: claimsOfSubject(SUBJECT).partition, sort: CLAIM }, null],
  [{ partition: claimsInState('submitted').partition, sort: CLAIM }, null],
  [verificationKey(VERIFICATION), verification],
  [{ partition: verificationsOfMarket('a').partition, sort: VERIFICATION }, verification],
  [publicationKey(publication.id), publication],
];

async function fillAccounts({ ledger }: World): Promise<void> {
  const puts = ACCOUNTS.map(([key, value]) => {
    return { kind: 'put', key, revision: 0, value: value as never, if: { kind: 'absent' } } as const;
  });
  expect(await ledger.transact(puts, { attemptId: 'accounts' })).toEqual({ committed: true });
}

/** Two generations and a rebuild. Returns all stored objects after each, with layouts and metadata. */
async function publishAll(world: World): Promise<unknown[]> {
  const seen: unknown[] = [];
  const look = () => seen.push(structuredClone([...world.objects.snapshot()]));
  await world.ingest([market('a'), market('b'), market('c'), market('d'), price('a', 0, 1), price('d', 0, 2)]);
  await publish(world.dependencies);
  look();
  await world.ingest([price('b', 0, 3)]);
  await publish(world.dependencies);
  look();
  await rebuild(world.dependencies);
  look();
  return seen;
}

test('the published objects are the same, byte for byte, with and without accounts, keys, entitlements and open claims', async () => {
  const [without, withAccounts] = [createWorld(), createWorld()];
  await fillAccounts(withAccounts);
  const published = await publishAll(without);
  expect(await publishAll(withAccounts)).toEqual(published);
  expect((published[0] as unknown[]).length).toBeGreaterThan(10);
});
