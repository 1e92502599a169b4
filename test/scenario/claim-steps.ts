/** The account claims, the operator verifies and decides, readers see the result. */
import assert from 'node:assert/strict';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import type { Claim } from '../../contract/operations/accounts/claims.ts';
import { fieldOf, refused, succeeded } from './answers.ts';
import { published } from './operator-steps.ts';
import { priceOn, SOURCE } from './records.ts';
import { listAll, type Session, type Step } from './session.ts';

const CLAIMS = '/api/v1/claims';
const VERIFIED_AT = '2025-07-01T09:30:00Z';
/** The right price. */
const CORRECTED = {
  amountMinor: 419_210,
  currency: 'USD',
  sourceValue: '4192.10',
  confidence: 'high',
  status: 'final',
} as const;

export function representative(session: Session): string {
  return `Representative of ${session.slug('copper')}`;
}

/** The identity of the wrong observation. */
const wrongPrice = (session: Session) => priceOn(session.slug('gold'), '2025-06-03');

function assertionsOf(session: Session) {
  const reason = `A reason that ${session.slug('nobody')} may read.`;
  session.keepPrivate(reason);
  const [dinar, copper] = [session.slug('dinar'), session.slug('copper')];
  return {
    correction: { type: 'correction', ...wrongPrice(session), corrected: CORRECTED, reason },
    dispute: { type: 'dispute', market: dinar, metric: 'price', reason },
    representation: { type: 'representation', market: copper, name: representative(session), reason },
  } as const;
}

/** The account files a claim. Gives its id. */
async function file(session: Session, assertion: object): Promise<string> {
  const { key: credential } = session.noted('account');
  const url = `https://evidence.example/${session.slug('page')}`;
  session.keepPrivate(url);
  const body = { assertion, evidence: [{ url, note: 'The erratum' }] };
  const filed = await session.write('POST', CLAIMS, { credential, body });
  const { id, state } = succeeded('createClaim', filed);
  session.keepPrivate(id);
  assert.deepEqual([state, fieldOf(filed, 'etag')], ['submitted', '"1"']);
  const own = await session.write('GET', fieldOf(filed, 'location'), { credential });
  assert.equal(succeeded('getClaim', own).id, id);
  return id;
}

/** The operator takes a claim under review and accepts it, with the ETag of each state. */
async function accept(session: Session, id: string): Promise<Claim> {
  const url = `${CLAIMS}/${id}`;
  const submitted = { 'if-match': '"1"' };
  const start = { body: { action: 'start' }, headers: submitted };
  const started = await session.write('POST', `${url}/review`, start);
  assert.equal(succeeded('reviewClaim', started).state, 'under-review');
  const underReview = { 'if-match': fieldOf(started, 'etag') };
  const body = { outcome: 'accepted', note: `Seen by ${session.slug('reviewer')}.` };
  session.keepPrivate(body.note);
  refused('precondition-failed', await session.write('POST', `${url}/decision`, { body, headers: submitted }));
  const decided = await session.write('POST', `${url}/decision`, { body, headers: underReview });
  return succeeded('decideClaim', decided);
}

export const claimSteps: readonly Step[] = [
  {
    says: 'the account files a correction, a dispute and a representation; it cannot decide them itself',
    async run(session) {
      const { correction, dispute, representation } = assertionsOf(session);
      const claims = {
        correction: await file(session, correction),
        dispute: await file(session, dispute),
        representation: await file(session, representation),
      };
      session.note('claims', claims);
      const { key: credential } = session.noted('account');
      const review = { credential, body: { action: 'start' }, headers: { 'if-match': '"1"' } };
      refused('forbidden', await session.write('POST', `${CLAIMS}/${claims.dispute}/review`, review));
      const queue = await listAll(session, CLAIMS, { state: 'submitted' }, (answer) => succeeded('listClaims', answer));
      const queued = queue.map(({ id }) => id);
      for (const id of Object.values(claims)) assert.ok(queued.includes(id), `${id} is not in the queue`);
    },
  },
  {
    says: 'the operator accepts them, verifies a source, and learns from a publication when that is public',
    async run(session) {
      const claims = session.noted('claims');
      for (const [type, id] of Object.entries(claims)) {
        const { state, observationId } = await accept(session, id);
        assert.deepEqual([state, observationId !== null], ['accepted', type === 'correction']);
      }
      const subject = { type: 'source', url: SOURCE.url };
      const found = `What ${session.slug('verifier')} found.`;
      session.keepPrivate(found);
      const body = { market: session.slug('tin'), subject, outcome: 'confirmed', verifiedAt: VERIFIED_AT, found };
      const verified = await session.write('POST', '/api/v1/source-verifications', { body });
      const { id } = succeeded('createSourceVerification', verified);
      session.note('verification', id);
      session.keepPrivate(id);
      await published(session, { markets: ['gold', 'dinar', 'copper', 'tin'].map((name) => session.slug(name)) });
    },
  },
  {
    says: 'readers see the corrected number and what it supersedes, the dispute, the representative, and the verification of the source',
    async run(session) {
      const gold = session.slug('gold');
      await session.readUntil(marketUrl(gold), (answer) => {
        const { price } = succeeded('getMarket', answer).metrics;
        assert.equal(price?.kind === 'money' && price.amountMinor, CORRECTED.amountMinor);
      });
      await session.readUntil(historyUrl(gold), (answer) => {
        const { data } = succeeded('getMarketHistory', answer);
        const { observedAt } = wrongPrice(session);
        const [newer, older, ...more] = data.filter((one) => one.observedAt === observedAt);
        assert.ok(newer !== undefined && older !== undefined && more.length === 0);
        assert.deepEqual([newer.supersedes, newer.supersededBy], [older.id, null]);
        assert.deepEqual([older.supersedes, older.supersededBy], [null, newer.id]);
        assert.equal(newer.kind === 'money' && newer.amountMinor, CORRECTED.amountMinor);
        assert.equal(older.kind === 'money' && older.amountMinor, 412_910);
      });
      await session.readUntil(marketUrl(session.slug('dinar')), (answer) => {
        const { disputed, disputedMetrics } = succeeded('getMarket', answer);
        assert.deepEqual([disputed, disputedMetrics], [true, ['price']]);
      });
      await session.readUntil(marketUrl(session.slug('copper')), (answer) => {
        assert.equal(succeeded('getMarket', answer).representedBy, representative(session));
      });
      await session.readUntil(marketUrl(session.slug('tin')), (answer) => {
        const { sources } = succeeded('getMarket', answer);
        const verification = { outcome: 'confirmed', verifiedAt: VERIFIED_AT, subject: 'source' };
        assert.deepEqual(sources, [{ ...SOURCE, cadence: null, expectedNextAt: null, verification }]);
      });
    },
  },
];
