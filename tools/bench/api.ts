/** The write API, with an API key whose limits are never reached. */
import { randomBytes, randomUUID } from 'node:crypto';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { formatApiKey, hashSecret, newApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { createCursors } from '../../lambdas/http/cursor.ts';
import type { HttpEvent } from '../../lambdas/http/event.ts';
import { createRateLimiter } from '../../lambdas/http/rate-limit.ts';
import { createWriteApi, type Handled } from '../../lambdas/pipeline/handle.ts';
import { createSecrets, MASTER_SECRET_BYTES } from '../../lambdas/pipeline/secrets.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import type { Change, Ledger } from '../../storage/ports/ledger.ts';
import {
  type ApiKeyValue,
  apiKeyKey,
  type EntitlementsValue,
  entitlementsKey,
} from '../../storage/records/accounts.ts';

const SUBJECT = 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const NO_END = 1_000_000_000;

export interface Api {
  /** Rejects if the request is refused, because then something else would be measured. */
  send(event: HttpEvent): Promise<Handled>;
  eventOf(method: string, path: string, body: unknown, headers?: Readonly<Record<string, string>>): HttpEvent;
  /** Records that the ledger must hold before. */
  readonly seeds: readonly Change[];
}

export function openApi(ledger: Ledger): Api {
  const secrets = createSecrets(new Uint8Array(randomBytes(MASTER_SECRET_BYTES)));
  const key = newApiKey('dev', randomBytes);
  const handle = createWriteApi({
    ...systemRuntime,
    ledger,
    secrets,
    environment: 'dev',
    authenticator: createAuthenticator({ ...systemRuntime, ledger, env: 'dev', tokenIssuer: null }),
    rateLimiter: createRateLimiter({
      ...systemRuntime,
      policy: { name: 'default', limit: NO_END, windowSeconds: 1 },
      maxCredentials: 10,
    }),
    cursors: createCursors(secrets.cursorKey),
    log: () => {},
  });
  return {
    async send(event) {
      const handled = await handle(event);
      const { statusCode, body } = handled.result;
      if (statusCode >= 300) throw new Error(`a write of the benchmark was refused: ${statusCode} ${body}`);
      return handled;
    },
    eventOf: (method, path, body, headers = {}) => ({
      version: '2.0',
      rawPath: path,
      rawQueryString: '',
      headers: {
        authorization: `Bearer ${formatApiKey(key)}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
        ...headers,
      },
      requestContext: {
        http: { method, path, sourceIp: '127.0.0.1' },
        requestId: randomUUID(),
        timeEpoch: Date.now(),
      },
      body: JSON.stringify(body),
      isBase64Encoded: false,
    }),
    seeds: seedsOf({
      id: key.keyId,
      subject: SUBJECT,
      label: 'Benchmark',
      scopes: [...ALL_SCOPES],
      secretHash: hashSecret(key.secret),
      previousSecret: null,
      createdAt: new Date().toISOString(),
      expiresAt: null,
      revokedAt: null,
    }),
  };
}

function seedsOf(key: ApiKeyValue): readonly Change[] {
  const grant = { limit: NO_END, revision: 1, grantedAt: key.createdAt, expiresAt: null };
  const features = ['ingest-rows-per-day', 'ingest-batches-per-day'];
  const entitlements: EntitlementsValue = { features: Object.fromEntries(features.map((name) => [name, grant])) };
  const always = { kind: 'any' } as const;
  return [
    { kind: 'put', key: apiKeyKey(key.id), revision: 1, value: key, if: always },
    { kind: 'put', key: entitlementsKey(SUBJECT), revision: 1, value: entitlements, if: always },
  ];
}
