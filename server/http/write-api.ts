/** The write API of this process. Its secrets, its issuer and its first key are files of the data folder. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type ApiKeyParts, formatApiKey, newApiKey, parseApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { fetchJwksOverHttps } from '../../lambdas/credentials/fetch-jwks.ts';
import { createTokenVerifier, type TokenVerifier } from '../../lambdas/credentials/jwt.ts';
import { isIssuerKey, issuerJwks, newIssuerKey } from '../../lambdas/credentials/local-issuer.ts';
import { hasOperatorKey, type KeyState, keyStateOf, registerFirstKey } from '../../lambdas/credentials/operator-key.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import { createCursors } from '../../lambdas/http/cursor.ts';
import { createRateLimiter } from '../../lambdas/http/rate-limit.ts';
import { createWriteApi, type HandleWrite, type RequestLog } from '../../lambdas/pipeline/handle.ts';
import { createSecrets, MASTER_SECRET_BYTES, type Secrets } from '../../lambdas/pipeline/secrets.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { type DirectoryUploads, openDirectoryUploads } from '../../storage/directory/directory-uploads.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { keepSecretFile, readSecretFile, removeSecretFile } from '../settings/secret-files.ts';

/** The issuer in the tokens of `tidemark token`. */
export const LOCAL_ISSUER = 'https://localhost/tidemark';
export const LOCAL_AUDIENCE = 'tidemark';

export interface WriteApi {
  readonly handle: HandleWrite;
  /** The storage of large files. */
  readonly uploads: DirectoryUploads;
  /** Verifies the targets of uploads. */
  readonly uploadKey: Uint8Array;
  readonly operatorKey: OperatorKeyFile;
}

/**
 * The state of the file with the operator key. `made`: by this start. `valid`. `gone`: removed, and not made again because
 * another operator key exists. `damaged`. Or the state of a key that has ended, or belongs to another ledger.
 */
export type OperatorKeyFile = 'made' | 'gone' | 'damaged' | KeyState;

export function uploadsFolder(dataFolder: string): string {
  return join(dataFolder, 'uploads');
}

/** @throws StartError if the folder's secrets cannot be kept, or the issuer is invalid */
export async function openWriteApi(
  ledger: Ledger,
  config: EmbeddedConfig,
  log: (entry: RequestLog) => void,
): Promise<WriteApi> {
  const { dataFolder } = config;
  const { secrets, uploads } = openUploads(dataFolder);
  const operatorKey = await keepOperatorKey(ledger, dataFolder);
  const handle = createWriteApi({
    ...systemRuntime,
    ledger,
    uploads,
    secrets,
    environment: 'dev',
    authenticator: createAuthenticator({ ...systemRuntime, ledger, env: 'dev', tokenIssuer: openIssuer(config) }),
    rateLimiter: createRateLimiter(systemRuntime),
    cursors: createCursors(secrets.cursorKey),
    log,
  });
  return { handle, uploads, uploadKey: secrets.uploadKey, operatorKey };
}

/** The secrets of the deployment, and the storage of large files. @throws StartError if the secret cannot be kept */
export function openUploads(dataFolder: string): { readonly secrets: Secrets; readonly uploads: DirectoryUploads } {
  const secret = keepSecretFile(
    dataFolder,
    'secret',
    () => Buffer.from(systemRuntime.randomBytes(MASTER_SECRET_BYTES)).toString('hex'),
    (text) => /^[0-9a-f]+$/.test(text) && text.length === 2 * MASTER_SECRET_BYTES,
  );
  const secrets = createSecrets(new Uint8Array(Buffer.from(secret, 'hex')));
  const key = secrets.uploadKey;
  const uploads = openDirectoryUploads({
    ...systemRuntime,
    folder: uploadsFolder(dataFolder),
    key,
    newName: randomUUID,
  });
  return { secrets, uploads };
}

/** The configured issuer, or this machine's own; null if its own must not serve other machines. */
function openIssuer({ dataFolder, issuer, isLocalIssuerAllowed }: EmbeddedConfig): TokenVerifier | null {
  if (issuer !== null) return createTokenVerifier({ ...systemRuntime, ...issuer, fetchJwks: fetchJwksOverHttps });
  if (!isLocalIssuerAllowed) return null;
  const jwks = issuerJwks(keepSecretFile(dataFolder, 'issuer-key', newIssuerKey, isIssuerKey));
  const local = { issuer: LOCAL_ISSUER, audience: LOCAL_AUDIENCE, fetchJwks: async () => jwks };
  return createTokenVerifier({ ...systemRuntime, ...local });
}

/**
 * Makes the first operator key. Makes another one only if no operator has a valid key any more; then the file of an ended key
 * is replaced. The file is written first. So after a crash in between, the next start registers the key in the file, which the
 * owner can read.
 */
async function keepOperatorKey(ledger: Ledger, dataFolder: string): Promise<OperatorKeyFile> {
  const kept = readSecretFile(dataFolder, 'operator-key');
  const key = kept === null ? null : parseApiKey(kept);
  const state = key && (await keyStateOf(ledger, key, systemRuntime.nowMs()));
  if (await hasOperatorKey(ledger, systemRuntime.nowMs())) return kept === null ? 'gone' : (state ?? 'damaged');
  if (state !== null && state !== 'unknown') removeSecretFile(dataFolder, 'operator-key');
  const make = () => formatApiKey(newApiKey('dev', systemRuntime.randomBytes));
  const text = keepSecretFile(dataFolder, 'operator-key', make, (whole) => parseApiKey(whole) !== null);
  const parts = parseApiKey(text) as ApiKeyParts;
  return (await registerFirstKey({ ...systemRuntime, ledger }, parts)) ? 'made' : 'gone';
}
