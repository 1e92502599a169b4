/** An account: asked for by e-mail, approved, given an API key, and what its owner does with it. */
import assert from 'node:assert/strict';
import { ACCOUNT_SCOPES } from '../../contract/operations/accounts/api-keys.ts';
import { fieldOf, refused, succeeded } from './answers.ts';
import type { Session, Step } from './session.ts';

const KEYS = '/api/v1/api-keys';
const REQUESTS = '/api/v1/waitlist-requests';
const WATCHLISTS = '/api/v1/watchlists';

const SCOPES = ACCOUNT_SCOPES.filter((scope) => /^(watchlists|claims|entitlements):/.test(scope));

async function issueKey(session: Session, waitlistRequest: string, label: string) {
  const answer = await session.write('POST', KEYS, { body: { waitlistRequest, label, scopes: SCOPES } });
  const { id, key, subject } = succeeded('createApiKey', answer);
  session.keepPrivate(id, key, subject, label);
  return { id, key, subject };
}

export const accountSteps: readonly Step[] = [
  {
    says: 'a request that came by e-mail is recorded and approved, and becomes an API key with few scopes',
    async run(session) {
      const contact = `${session.slug('jo')}@people.example`;
      const useCase = `A weekly chart for ${session.slug('paper')}.`;
      const consentedAt = '2025-06-01T09:30:00Z';
      const asked = { contact, useCase, requestsPerDay: 5_000, consentedAt };
      const { id } = succeeded('createWaitlistRequest', await session.write('POST', REQUESTS, { body: asked }));
      session.keepPrivate(contact, useCase, id);
      const early = { waitlistRequest: id, label: 'Too early', scopes: SCOPES };
      refused('conflict', await session.write('POST', KEYS, { body: early }));
      const decision = { outcome: 'approved', note: null };
      succeeded('decideWaitlistRequest', await session.write('POST', `${REQUESTS}/${id}/decision`, { body: decision }));

      const { id: keyId, key, subject } = await issueKey(session, id, session.slug('chart'));
      session.note('account', { waitlistRequest: id, subject, keyId, key });
      const me = succeeded('getMe', await session.write('GET', '/api/v1/me', { credential: key }));
      assert.deepEqual([me.actor, me.subject, me.scopes], [`key:${keyId}`, subject, [...SCOPES].sort()]);
    },
  },
  {
    says: 'the account makes a watchlist and changes it with the ETag that it has seen; a stale one is refused',
    async run(session) {
      const { key: credential } = session.noted('account');
      const body = { name: 'Breakfast', markets: [session.slug('yen')] };
      const made = await session.write('POST', WATCHLISTS, { credential, body });
      const { id } = succeeded('createWatchlist', made);
      session.keepPrivate(id);
      session.note('watchlist', id);
      const url = fieldOf(made, 'location');
      assert.equal(fieldOf(made, 'etag'), '"1"');

      const longer = { name: 'Breakfast', markets: [session.slug('yen'), session.slug('gold')] };
      const change = { credential, body: longer, headers: { 'if-match': '"1"' } };
      const changed = await session.write('PUT', url, change);
      assert.deepEqual(succeeded('replaceWatchlist', changed).markets, longer.markets);
      assert.equal(fieldOf(changed, 'etag'), '"2"');
      const stale = await session.write('PUT', url, change);
      refused('precondition-failed', stale);
      assert.equal(fieldOf(stale, 'etag'), '"2"');
      refused('precondition-required', await session.write('PUT', url, { credential, body: longer }));
      const unknown = { ...longer, markets: [session.slug('nowhere')] };
      const { errors } = refused(
        'validation-failed',
        await session.write('POST', WATCHLISTS, { credential, body: unknown }),
      );
      assert.deepEqual(
        errors?.map(({ pointer, code }) => [pointer, code]),
        [['/markets/0', 'market.unknown']],
      );
    },
  },
  {
    says: 'a grant of the operator is the limit of the account, at once',
    async run(session) {
      const { key: credential, subject } = session.noted('account');
      const grant = `/api/v1/entitlements/${encodeURIComponent(subject)}/watchlists`;
      const given = { body: { limit: 1 }, headers: { 'if-none-match': '*' } };
      assert.equal(succeeded('putEntitlement', await session.write('PUT', grant, given)).remaining, 0);
      refused('quota-exceeded', await session.write('POST', WATCHLISTS, { credential, body: { name: 'One more' } }));
      const { entitlements } = succeeded(
        'getEntitlements',
        await session.write('GET', '/api/v1/entitlements', { credential }),
      );
      const { limit, used } = entitlements.find(({ feature }) => feature === 'watchlists') ?? {};
      assert.deepEqual([limit, used], [1, 1]);
    },
  },
  {
    says: 'the scopes of the account are its limits: all else is 403; other subjects do not find its watchlist; without a credential it is 401',
    async run(session) {
      const { key: credential } = session.noted('account');
      const { id: batch, body } = session.noted('batch');
      refused('forbidden', await session.write('POST', '/api/v1/ingest/batches', { credential, body }));
      refused('forbidden', await session.write('GET', `/api/v1/ingest/batches/${batch}`, { credential }));
      refused('forbidden', await session.write('GET', KEYS, { credential }));
      const watchlist = `${WATCHLISTS}/${session.noted('watchlist')}`;
      refused('not-found', await session.write('GET', watchlist));
      for (const unknown of [null, 'tdm_live_0000000000000000_0']) {
        const answer = await session.write('POST', '/api/v1/ingest/batches', { credential: unknown, body });
        refused('unauthenticated', answer);
        assert.match(fieldOf(answer, 'www-authenticate'), /^Bearer/);
      }
    },
  },
  {
    says: 'a second key of the account is used, and revoked by the operator',
    async run(session) {
      const { waitlistRequest } = session.noted('account');
      const { id, key } = await issueKey(session, waitlistRequest, session.slug('lost'));
      succeeded('getMe', await session.write('GET', '/api/v1/me', { credential: key }));
      succeeded('revokeApiKey', await session.write('DELETE', `${KEYS}/${id}`));
      session.note('revokedKey', { id, key });
    },
  },
];
