/** No entitlement, key or payment changes what is published. */
import { expect, test } from 'vitest';
import {
  apiKeyKey,
  entitlementsKey,
  idempotencyKey,
  usageKey,
  waitlistRequestKey,
  watchlistKey,
} from '../../storage/records/accounts.ts';
import { auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { publicationKey } from '../../storage/records/publication.ts';
import {
  claimKey,
  claimsInState,
  claimsOfSubject,
  verificationKey,
  verificationsOfMarket,
} from '../../storage/records/review.ts';
import { createWorld, market, price, type World } from './world.ts';

const AT = '2026-09-30T08:00:00Z';
const SUBJECT = 'account:waitlist_01JD0000000000000000000000';
const [CLAIM, VERIFICATION] = ['claim_01JD0000000000000000000002', 'verification_01JD0000000000000000000003'];
const grant = { limit: 1_000, revision: 1, grantedAt: AT, expiresAt: null };

/** Has whatever a record about an account could say in favour of a market. */
const FAVOUR = {
  ...{ id: 'one', subject: SUBJECT, subjectOwner: SUBJECT, label: 'the best customer', note: 'pays well' },
  ...{ contact: 'somebody@rich.example', useCase: 'To stand first in the list', requestsPerDay: 1_000_000 },
  ...{ markets: ['b', 'a'], market: 'a', purge: true, state: 'approved', outcome: 'confirmed', createdAt: AT },
  assertion: { type: 'representation', market: 'a', name: 'The Best Customer Ltd', reason: 'We pay.' },
};

async function fillAccounts({ ledger }: World): Promise<void> {
  const inPartitions = [
    auditOfActor('key:one'),
    auditOfTarget(`claim/${CLAIM}`),
    claimsOfSubject(SUBJECT),
    claimsInState('submitted'),
    verificationsOfMarket('a'),
  ].map(({ partition }) => [{ partition, sort: CLAIM }, FAVOUR] as const);
  const items = [
    ...inPartitions,
    [idempotencyKey('key:one', 'a'.repeat(16)), FAVOUR],
    [apiKeyKey('one'), FAVOUR],
    [waitlistRequestKey('waitlist_01JD0000000000000000000000'), FAVOUR],
    [entitlementsKey(SUBJECT), { 'api-keys': grant, watchlists: grant, 'ingest-rows-per-day': grant }],
    [usageKey(SUBJECT, 'watchlists', null), 7],
    [watchlistKey(SUBJECT, 'watchlist_1'), FAVOUR],
    [claimKey(CLAIM), FAVOUR],
    [verificationKey(VERIFICATION), FAVOUR],
    [publicationKey('publication_1'), FAVOUR],
  ] as const;
  const puts = items.map(
    ([key, value]) => ({ kind: 'put', key, revision: 0, value: value as never, if: { kind: 'absent' } }) as const,
  );
  expect(await ledger.transact(puts, { attemptId: 'accounts' })).toEqual({ committed: true });
}

/** Two generations and a rebuild. Returns all stored objects after each, with layouts and metadata. */
async function publishAll(world: World): Promise<unknown[]> {
  const seen: unknown[] = [];
  const look = () => seen.push(structuredClone([...world.objects.snapshot()]));
  await world.ingest([market('a'), market('b'), market('c'), market('d'), price('a', 0, 1), price('d', 0, 2)]);
  await world.publish();
  look();
  await world.ingest([price('b', 0, 3)]);
  await world.publish();
  look();
  await world.rebuildAll();
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
