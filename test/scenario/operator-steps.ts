/** Other work of operators: publications, purges, revoked keys, and the audit. */
import assert from 'node:assert/strict';
import { MARKETS_URL, marketUrl } from '../../contract/files/routes.ts';
import { fieldOf, refused, succeeded } from './answers.ts';
import { DONE_WITHIN_MS, listAll, poll, type Session, type Step } from './session.ts';

const PUBLICATIONS = '/api/v1/publications';

/** The promised time, and the time of the requests. */
const REVOKED_WITHIN_MS = (30 + 2) * 1000;

interface PublicationBody {
  readonly markets: 'all' | readonly string[];
  readonly purge?: boolean;
}

/** Has markets published again, and waits until they are. Gives the publication's id. */
export async function published(session: Session, body: PublicationBody): Promise<string> {
  const answer = await session.write('POST', PUBLICATIONS, { body });
  const { id } = succeeded('createPublication', answer);
  session.keepPrivate(id);
  const { generation } = await poll(
    DONE_WITHIN_MS,
    async () => succeeded('getPublication', await session.write('GET', fieldOf(answer, 'location'))),
    ({ state }) => state === 'published',
  );
  assert.ok(generation !== null);
  return id;
}

/** All that this actor has done, or that was done to this target, newest first. */
const auditOf = (session: Session, by: { readonly actor: string } | { readonly target: string }) =>
  listAll(session, '/api/v1/audit-records', { ...by }, (answer) => succeeded('listAuditRecords', answer));

export const operatorSteps: readonly Step[] = [
  {
    says: 'everything is published again, and a market purged: unchanged bodies keep their bytes and ETags',
    async run(session) {
      const etag = fieldOf(await session.read(MARKETS_URL), 'etag');
      session.note('publication', await published(session, { markets: 'all' }));
      await published(session, { markets: [session.slug('quiet')], purge: true });
      const sinceMs = Date.now();
      const held = { [MARKETS_URL]: etag, [marketUrl(session.slug('quiet'))]: session.noted('untouched').etag };
      for (const [path, known] of Object.entries(held)) {
        assert.equal((await session.readSince(path, sinceMs, { 'if-none-match': known })).status, 304);
      }
    },
  },
  {
    says: 'the audit has actor, action and target, once for each request, without refused ones',
    async run(session) {
      const { keyId } = session.noted('account');
      const operator = session.noted('operator');
      const expected: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
        [`batch/${session.noted('batch').id}`]: [[operator, 'createIngestBatch']],
        [`upload/${session.noted('upload')}`]: [[operator, 'createIngestUpload']],
        [`publication/${session.noted('publication')}`]: [[operator, 'createPublication']],
        [`source-verification/${session.noted('verification')}`]: [[operator, 'createSourceVerification']],
        [`waitlist-request/${session.noted('account').waitlistRequest}`]: [
          [operator, 'decideWaitlistRequest'],
          [operator, 'createWaitlistRequest'],
        ],
        [`api-key/${session.noted('revokedKey').id}`]: [
          [operator, 'revokeApiKey'],
          [operator, 'createApiKey'],
        ],
        [`watchlist/${session.noted('watchlist')}`]: [
          [`key:${keyId}`, 'replaceWatchlist'],
          [`key:${keyId}`, 'createWatchlist'],
        ],
        [`claim/${session.noted('claims').correction}`]: [
          [operator, 'decideClaim'],
          [operator, 'reviewClaim'],
          [`key:${keyId}`, 'createClaim'],
        ],
      };
      const requestIds: string[] = [];
      for (const [target, done] of Object.entries(expected)) {
        const records = await auditOf(session, { target });
        assert.deepEqual(
          records.map(({ actor, action }) => [actor, action]),
          done,
        );
        requestIds.push(...records.map(({ requestId }) => requestId));
      }
      assert.equal(new Set(requestIds).size, requestIds.length);
      const actions = (await auditOf(session, { actor: `key:${keyId}` })).map(({ action }) => action);
      assert.deepEqual(actions, ['createClaim', 'createClaim', 'createClaim', 'replaceWatchlist', 'createWatchlist']);
    },
  },
  {
    says: 'a key that was revoked, and the keys of an account that is being erased, are refused within 30 seconds',
    async run(session) {
      for (const { key: credential } of [session.noted('revokedKey'), session.noted('account')]) {
        await poll(
          REVOKED_WITHIN_MS,
          () => session.write('GET', '/api/v1/me', { credential }),
          ({ status }) => status === 401,
        );
        refused('unauthenticated', await session.write('GET', '/api/v1/watchlists', { credential }));
      }
    },
  },
];
