/** The write API of this process. Its secrets, its issuer and its first key are files of the data folder. */
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type ApiKeyParts, formatApiKey, newApiKey, parseApiKey } from '../lambdas/credentials/api-key-format.ts';
import { fetchJwksOverHttps } from '../lambdas/credentials/fetch-jwks.ts';
import { createTokenVerifier, type TokenVerifier } from '../lambdas/credentials/jwt.ts';
import { isIssuerKey, issuerJwks, newIssuerKey } from '../lambdas/credentials/local-issuer.ts';
import { hasFirstKey, registerFirstKey } from '../lambdas/credentials/operator-key.ts';
import { createAuthenticator } from '../lambdas/credentials/principal.ts';
import { createCursors } from '../lambdas/http/cursor.ts';
import type { HttpEvent } from '../lambdas/http/event.ts';
import { createRateLimiter } from '../lambdas/http/rate-limit.ts';
import { createWriteApi, type Handled, type RequestLog } from '../lambdas/pipeline/handle.ts';
import { createSecrets, MASTER_SECRET_BYTES } from '../lambdas/pipeline/secrets.ts';
import { type DirectoryUploads, openDirectoryUploads } from '../storage/directory-uploads.ts';
import type { Ledger } from '../storage/ledger.ts';
import { newUlid } from '../storage/ulid.ts';
import type { EmbeddedConfig } from './config.ts';
import { keepSecretFile, readSecretFile } from './secret-files.ts';

/** The issuer in the tokens of `npm run token`. */
export const LOCAL_ISSUER = 'https://localhost/tidemark';
export const LOCAL_AUDIENCE = 'tidemark';

/** For each credential. */
const RATE = { name: 'default', limit: 600, windowSeconds: 60 } as const;
const MAX_CREDENTIALS = 10_000;

export interface WriteApi {
  readonly handle: (event: HttpEvent) => Promise<Handled>;
  /** The storage of large files. */
  readonly uploads: DirectoryUploads;
  readonly operatorKey: OperatorKeyFile;
}

/**
 * The state of the file with the operator key: `made` by this start; `kept` from an earlier one; `gone`: removed, and
 * not made again while the key is valid; or revoked.
 */
export type OperatorKeyFile = 'made' | 'kept' | 'gone';

/** @throws StartError if the folder's secrets cannot be kept, or the issuer is invalid */
export async function openWriteApi(
  ledger: Ledger,
  config: EmbeddedConfig,
  log: (entry: RequestLog) => void,
): Promise<WriteApi> {
  const { dataFolder } = config;
  const secret = keepSecretFile(
    dataFolder,
    'secret',
    () => randomBytes(MASTER_SECRET_BYTES).toString('hex'),
    (text) => /^[0-9a-f]+$/.test(text) && text.length === 2 * MASTER_SECRET_BYTES,
  );
  const secrets = createSecrets(new Uint8Array(Buffer.from(secret, 'hex')));
  const operatorKey = await keepOperatorKey(ledger, dataFolder);
  const uploads = openDirectoryUploads({
    folder: join(dataFolder, 'uploads'),
    key: secrets.uploadKey,
    nowMs: Date.now,
    newName: randomUUID,
  });
  const handle = createWriteApi({
    ledger,
    uploads,
    secrets,
    randomBytes,
    environment: 'dev',
    newAttemptId: randomUUID,
    authenticator: createAuthenticator({ ledger, nowMs: Date.now, env: 'dev', tokenIssuer: openIssuer(config) }),
    rateLimiter: createRateLimiter({ nowMs: Date.now, policy: RATE, maxCredentials: MAX_CREDENTIALS }),
    cursors: createCursors(secrets.cursorKey),
    nowMs: Date.now,
    log,
  });
  return { handle, uploads, operatorKey };
}

/** The configured issuer, or one of this machine. */
function openIssuer({ dataFolder, issuer }: EmbeddedConfig): TokenVerifier {
  if (issuer !== null) return createTokenVerifier({ ...issuer, fetchJwks: fetchJwksOverHttps, nowMs: Date.now });
  const jwks = issuerJwks(keepSecretFile(dataFolder, 'issuer-key', newIssuerKey, isIssuerKey));
  return createTokenVerifier({
    issuer: LOCAL_ISSUER,
    audience: LOCAL_AUDIENCE,
    fetchJwks: async () => jwks,
    nowMs: Date.now,
  });
}

/**
 * Makes the first operator key. Makes another one only if that key was revoked. The file comes first: after a crash in
 * between, the next start registers the key that the owner can read.
 */
async function keepOperatorKey(ledger: Ledger, dataFolder: string): Promise<OperatorKeyFile> {
  const isKept = readSecretFile(dataFolder, 'operator-key') !== null;
  if (await hasFirstKey({ ledger })) return isKept ? 'kept' : 'gone';
  const make = () => formatApiKey(newApiKey('dev', randomBytes));
  const text = keepSecretFile(dataFolder, 'operator-key', make, (kept) => parseApiKey(kept) !== null);
  const nowMs = Date.now();
  const newId = (prefix: string) => `${prefix}_${newUlid(nowMs, randomBytes)}`;
  const key = parseApiKey(text) as ApiKeyParts;
  return (await registerFirstKey({ ledger, now: new Date(nowMs).toISOString(), newId }, key)) ? 'made' : 'gone';
}
