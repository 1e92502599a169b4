/**
 * `tidemark token --user alice`: prints an access token of the embedded issuer, for trying out the write
 * API. Anybody who can read the data folder can be any user, so it refuses if a real issuer is configured.
 */
import { randomUUID } from 'node:crypto';
import type { Scope } from '../../contract/operations/scopes.ts';
import { mintToken } from '../../lambdas/credentials/local-issuer.ts';
import { LOCAL_AUDIENCE, LOCAL_ISSUER } from '../http/write-api.ts';
import { StartError } from '../service/start-error.ts';
import { type Environment, readConfig } from '../settings/config.ts';
import { readSecretFile } from '../settings/secret-files.ts';

export interface TokenOptions {
  readonly user: string;
  readonly scopes: readonly Scope[];
  readonly lifetimeHours: number;
}

/**
 * Signs the token with the issuer of the data folder that the environment names.
 *
 * @throws StartError if a real issuer is configured, or the folder has no issuer; RangeError for an invalid user
 */
export function issueToken(environment: Environment, { user, scopes, lifetimeHours }: TokenOptions): string {
  const { dataFolder, issuer } = readConfig(environment);
  if (issuer !== null) {
    throw new StartError(
      `Tokens come from ${issuer.issuer} (TIDEMARK_ISSUER): sign in there. This command makes no token for it.`,
    );
  }
  const privateJwk = readSecretFile(dataFolder, 'issuer-key');
  if (privateJwk === null) {
    throw new StartError(`There is no issuer in ${dataFolder}: start Tidemark there once (npm start), then ask again.`);
  }
  return mintToken({
    privateJwk,
    issuer: LOCAL_ISSUER,
    audience: LOCAL_AUDIENCE,
    subject: user,
    scopes,
    nowMs: Date.now(),
    lifetimeSeconds: lifetimeHours * 3600,
    tokenId: randomUUID(),
  });
}
