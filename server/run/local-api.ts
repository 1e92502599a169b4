/**
 * The write API and the published files without a port, for the process that has the data folder. Its caller is the operator:
 * every reader of the folder has the operator's keys. So files and recipes pass the same checks and the same audit as through a
 * server.
 */
import { randomUUID } from 'node:crypto';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import { FEATURES } from '../../contract/values/features.ts';
import { OPERATOR_SUBJECT } from '../../lambdas/credentials/operator-key.ts';
import type { Principal } from '../../lambdas/credentials/principal.ts';
import { createCursors } from '../../lambdas/http/cursor.ts';
import { createWriteApi } from '../../lambdas/pipeline/handle.ts';
import type { Secrets } from '../../lambdas/pipeline/secrets.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { DirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

export interface LocalApiOptions {
  readonly ledger: Ledger;
  readonly secrets: Secrets;
  readonly uploads: DirectoryUploads;
  readonly objects: Pick<ObjectStore, 'get'>;
  /** Awaited before the answer of a write, so that its work is done when the caller gets the answer. */
  readonly onCommitted: () => Promise<void>;
}

/** No limits: they bound the damage by a stolen credential, and this caller has none. */
const UNLIMITED = Object.fromEntries(
  Object.entries(FEATURES).map(([name, { maxLimit }]) => [name, { limit: maxLimit, expiresAt: null }]),
) as unknown as Principal['entitlements']['features'];

const OPERATOR: Principal = {
  kind: 'api-key',
  actor: 'system:run',
  subject: OPERATOR_SUBJECT,
  scopes: new Set(ALL_SCOPES),
  markets: null,
  expiresAt: null,
  entitlements: { revision: null, features: UNLIMITED },
};

const RATE = {
  policy: { name: 'local', limit: 1, windowSeconds: 1 },
  ...{ allowed: true, remaining: 1, resetSeconds: 0, retryAfterSeconds: 0 },
};

/** Answers as `fetch` does, for any host in the URL. Rejects with a fault of this process: the disk may be full. */
export function openLocalApi({ ledger, secrets, uploads, objects, onCommitted }: LocalApiOptions): typeof fetch {
  const handle = createWriteApi({
    ...systemRuntime,
    ...{ ledger, secrets, uploads },
    environment: 'dev',
    authenticator: { authenticate: async () => ({ principal: OPERATOR }), learn: () => {}, forget: () => {} },
    rateLimiter: { take: () => RATE },
    cursors: createCursors(secrets.cursorKey),
    log: () => {},
  });
  return async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const file = parsePublicKey(PUBLIC_PREFIX + pathname) && (await objects.get(PUBLIC_PREFIX + pathname));
    if (file?.kind === 'found')
      return new Response(Buffer.from(file.body), { status: statusOfObject(file.metadata.contentType) });
    const body = Buffer.from(await request.arrayBuffer());
    const { result, committed, error } = await handle({
      rawPath: pathname,
      rawQueryString: search.slice(1),
      headers: Object.fromEntries(request.headers),
      requestContext: {
        http: { method: request.method, sourceIp: '127.0.0.1' },
        requestId: randomUUID(),
      },
      ...(body.length === 0 ? {} : { body: body.toString('base64') }),
      isBase64Encoded: body.length > 0,
    });
    if (error !== undefined) throw error;
    if (committed) await onCommitted();
    const hasBody = result.statusCode !== 204 && result.statusCode !== 304;
    return new Response(hasBody ? (result.body ?? '') : null, { status: result.statusCode, headers: result.headers });
  };
}
