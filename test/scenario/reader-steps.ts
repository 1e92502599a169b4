/** Public reads: no credential, any origin, conditional requests. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { MARKETS_URL, marketUrl, OPENAPI_URL, SNAPSHOT_URL, WAITLIST_URL } from '../../contract/files/routes.ts';
import { ALL_OPERATIONS } from '../../contract/operations/all-operations.ts';
import type { ProblemCode } from '../../contract/problems/problems.ts';
import type { AnyOperationId } from '../any-operation.ts';
import { type Answer, fieldOf, refused, succeeded } from './answers.ts';
import type { Session, Step } from './session.ts';

const DOCUMENTS = {
  getSnapshot: SNAPSHOT_URL,
  listMarkets: MARKETS_URL,
  getOpenApi: OPENAPI_URL,
  getWaitlist: WAITLIST_URL,
} as const satisfies { readonly [Id in AnyOperationId]?: string };

export const readerSteps: readonly Step[] = [
  {
    says: 'a reader without a credential finds snapshot, list, OpenAPI document and waitlist, each of them with Cache-Control, ETag and CORS',
    async run(session) {
      for (const [id, url] of Object.entries(DOCUMENTS) as [keyof typeof DOCUMENTS, string][]) {
        const answer = await session.read(url);
        succeeded(id, answer);
        assert.equal(fieldOf(answer, 'content-type'), 'application/json');
        assert.equal(fieldOf(answer, 'cache-control'), 'public, max-age=15, stale-if-error=300');
      }
    },
  },
  {
    says: 'a reader with the newest bytes gets 304, and HEAD has the fields of GET',
    async run(session) {
      for (const url of Object.values(DOCUMENTS)) {
        const etag = fieldOf(await session.read(url), 'etag');
        const unchanged = await session.read(url, { 'if-none-match': `"another", ${etag}` });
        assert.equal(unchanged.status, 304);
        const head = await session.readBy('HEAD', url);
        assert.equal(head.status, 200);
        for (const answer of [unchanged, head]) assert.equal(fieldOf(answer, 'etag'), etag);
      }
    },
  },
  {
    says: 'the OpenAPI document has every operation, and the snapshot the digest of the list',
    async run(session) {
      const { paths } = succeeded('getOpenApi', await session.read(OPENAPI_URL));
      for (const { method, path } of Object.values(ALL_OPERATIONS)) {
        assert.ok(Object.hasOwn((paths[path] ?? {}) as object, method.toLowerCase()), `${method} ${path}`);
      }
      await session.readUntil(SNAPSHOT_URL, async (answer) => {
        const { text } = await session.read(MARKETS_URL);
        const digest = createHash('sha256').update(text).digest('hex');
        assert.equal(succeeded('getSnapshot', answer).listDigest, digest);
      });
    },
  },
  {
    says: 'an unknown or malformed URL gets a problem document, which any origin may read; preflights succeed',
    async run(session) {
      const cursor = `1-${'0'.repeat(32)}`;
      const refusals = [
        await refusal(session, 'not-found', '/api/v1/nothing'),
        await refusal(session, 'not-found', marketUrl(session.slug('nowhere'))),
        await refusal(session, 'not-found', `${MARKETS_URL}?cursor=${cursor}`),
        await refusal(session, 'unknown-query-parameter', `${MARKETS_URL}?page=2`),
        await refusal(session, 'unknown-query-parameter', `${SNAPSHOT_URL}?cursor=${cursor}`),
        await refusal(session, 'invalid-cursor', `${MARKETS_URL}?cursor=2`),
        await refusal(session, 'invalid-cursor', `${MARKETS_URL}?cursor=${cursor}&cursor=${cursor}`),
      ];
      const preflight = await session.readBy('OPTIONS', MARKETS_URL, { 'access-control-request-method': 'GET' });
      assert.equal(preflight.status, 204);
      for (const answer of [...refusals, preflight]) {
        assert.equal(fieldOf(answer, 'access-control-allow-origin'), '*');
      }
    },
  },
];

async function refusal(session: Session, code: ProblemCode, path: string): Promise<Answer> {
  const answer = await session.read(path);
  refused(code, answer);
  return answer;
}
