/** The account's owner asks to be forgotten. */
import assert from 'node:assert/strict';
import { marketUrl } from '../../contract/files/routes.ts';
import { fieldOf, refused, succeeded } from './answers.ts';
import { published } from './operator-steps.ts';
import { DONE_WITHIN_MS, listAll, poll, type Step } from './session.ts';

const begun: readonly Step[] = [
  {
    says: 'the erasure of the account is accepted: its contact and its keys are gone at once',
    async run(session) {
      const { subject, waitlistRequest } = session.noted('account');
      const answer = await session.write('POST', '/api/v1/erasures', { body: { subject } });
      const { id } = succeeded('createErasure', answer);
      session.note('erasure', id);
      session.keepPrivate(id);
      assert.equal(fieldOf(answer, 'location'), `/api/v1/erasures/${id}`);
      const requests = await listAll(session, '/api/v1/waitlist-requests', {}, (answer) =>
        succeeded('listWaitlistRequests', answer),
      );
      const request = requests.find((one) => one.id === waitlistRequest);
      assert.deepEqual([request?.state, request?.contact, request?.useCase, request?.keys], ['erased', null, null, []]);
      const body = { waitlistRequest, label: 'Another', scopes: ['watchlists:read'] };
      refused('conflict', await session.write('POST', '/api/v1/api-keys', { body }));
    },
  },
];

const finished: readonly Step[] = [
  {
    says: 'once the erasure has finished nothing of the account is left: no watchlist, no grant, no label of a key, no text of a claim, no public name',
    async run(session) {
      const { subject } = session.noted('account');
      const erasure = `/api/v1/erasures/${session.noted('erasure')}`;
      await poll(
        DONE_WITHIN_MS,
        async () => succeeded('getErasure', await session.write('GET', erasure)),
        ({ finishedAt }) => finishedAt !== null,
      );
      const query = new URLSearchParams({ subject });
      const { entitlements } = succeeded(
        'getEntitlements',
        await session.write('GET', `/api/v1/entitlements?${query}`),
      );
      const { used, source } = entitlements.find(({ feature }) => feature === 'watchlists') ?? {};
      assert.deepEqual([used, source], [0, 'default']);
      const keys = await listAll(session, '/api/v1/api-keys', {}, (answer) => succeeded('listApiKeys', answer));
      const own = keys.filter((key) => key.subject === subject);
      assert.deepEqual(
        own.map(({ label, revokedAt }) => [label, revokedAt !== null]),
        [
          ['erased', true],
          ['erased', true],
        ],
      );
      for (const id of Object.values(session.noted('claims'))) {
        const claim = succeeded('getClaim', await session.write('GET', `/api/v1/claims/${id}`));
        assert.deepEqual(claim.evidence, []);
        assert.equal(claim.assertion.reason, 'erased');
      }
      const copper = session.slug('copper');
      await published(session, { markets: [copper], purge: true });
      await session.readUntil(marketUrl(copper), (answer) => {
        assert.equal(succeeded('getMarket', answer).representedBy, null);
      });
      const dinar = succeeded('getMarket', await session.read(marketUrl(session.slug('dinar'))));
      assert.equal(dinar.disputed, true);
    },
  },
  {
    says: 'no body that was read in public holds an id of a person, a key or a request, or a text that was not meant for it',
    async run(session) {
      assert.ok(session.privateTexts.size > 20 && session.publicBodies.size > 20);
      for (const [body, path] of session.publicBodies) {
        for (const text of session.privateTexts) assert.ok(!body.includes(text), `${path} holds ${text}`);
      }
    },
  },
];

export const erasureSteps = { begun, finished } as const;
