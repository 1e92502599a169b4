/**
 * `npm run --silent token -- --user alice`: prints an access token of the embedded issuer, for trying out the write
 * API. Anybody who can read the data folder can be any user, so it refuses if a real issuer is configured.
 */
import { randomUUID } from 'node:crypto';
import { ALL_SCOPES, type Scope, USER_SCOPES } from '../contract/scopes.ts';
import { mintToken } from '../lambdas/credentials/local-issuer.ts';
import { readCommandLine, refuseArguments } from './command-line.ts';
import { readConfig, StartError } from './config.ts';
import { readSecretFile } from './secret-files.ts';
import { LOCAL_AUDIENCE, LOCAL_ISSUER } from './write-api.ts';

const USAGE = `usage: npm run --silent token -- --user NAME [options]
  --user NAME      the user of the token
  --scopes LIST    separated by commas (default ${USER_SCOPES.join(',')})
                   known: ${ALL_SCOPES.join(',')}
  --hours N        how long it is valid, 1 to 24 (default 8)`;

const OPTIONS = { user: { type: 'string' }, scopes: { type: 'string' }, hours: { type: 'string' } } as const;

function main(): void {
  const { values } = readCommandLine(USAGE, OPTIONS, 'no words');
  const { user } = values;
  if (user === undefined) refuseArguments('Name a user: --user alice', USAGE);
  const scopes = readScopes(values.scopes ?? USER_SCOPES.join(','));
  const lifetimeSeconds = readHours(values.hours ?? '8') * 3600;
  const { dataFolder, issuer } = readConfig(process.env);
  if (issuer !== null) {
    throw new StartError(
      `Tokens come from ${issuer.issuer} (TIDEMARK_ISSUER): sign in there. This command makes no token for it.`,
    );
  }
  const privateJwk = readSecretFile(dataFolder, 'issuer-key');
  if (privateJwk === null) {
    throw new StartError(`There is no issuer in ${dataFolder}: start Tidemark there once (npm start), then ask again.`);
  }
  console.log(
    mintToken({
      privateJwk,
      issuer: LOCAL_ISSUER,
      audience: LOCAL_AUDIENCE,
      subject: user,
      scopes,
      nowMs: Date.now(),
      lifetimeSeconds,
      tokenId: randomUUID(),
    }),
  );
}

function readScopes(list: string): Scope[] {
  const names = list.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !ALL_SCOPES.includes(name as Scope));
  if (unknown !== undefined) refuseArguments(`There is no scope ${JSON.stringify(unknown)}`, USAGE);
  return names as Scope[];
}

function readHours(text: string): number {
  if (!/^([1-9]|1\d|2[0-4])$/.test(text)) refuseArguments('--hours takes a number from 1 to 24', USAGE);
  return Number(text);
}

try {
  main();
} catch (error) {
  if (!(error instanceof StartError || error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
