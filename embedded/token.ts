/**
 * `npm run --silent token -- --user alice`: prints an access token of the embedded issuer, for trying out the write
 * API. Anybody who can read the data folder can be any user, so it refuses if a real issuer is configured.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ALL_SCOPES, type Scope, USER_SCOPES } from '../contract/scopes.ts';
import { mintToken } from '../lambdas/credentials/local-issuer.ts';
import { readConfig, StartError } from './config.ts';
import { readSecretFile } from './secret-files.ts';
import { LOCAL_AUDIENCE, LOCAL_ISSUER } from './write-api.ts';

const USAGE = `usage: npm run --silent token -- --user NAME [options]
  --user NAME      the user of the token
  --scopes LIST    separated by commas (default ${USER_SCOPES.join(',')})
                   known: ${ALL_SCOPES.join(',')}
  --hours N        how long it is valid, 1 to 24 (default 8)`;

function main(): void {
  const { values } = parse();
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { user, scopes = USER_SCOPES.join(','), hours = '8' } = values;
  if (user === undefined) throw new StartError(USAGE);
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
      scopes: readScopes(scopes),
      nowMs: Date.now(),
      lifetimeSeconds: readHours(hours) * 3600,
      tokenId: randomUUID(),
    }),
  );
}

function parse() {
  try {
    return parseArgs({
      options: {
        user: { type: 'string' },
        scopes: { type: 'string' },
        hours: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n${USAGE}`);
  }
}

function readScopes(list: string): Scope[] {
  const names = list.split(',').filter((name) => name !== '');
  const unknown = names.find((name) => !ALL_SCOPES.includes(name as Scope));
  if (unknown !== undefined) throw new StartError(`There is no scope ${JSON.stringify(unknown)}.\n${USAGE}`);
  return names as Scope[];
}

function readHours(text: string): number {
  if (!/^([1-9]|1\d|2[0-4])$/.test(text)) throw new StartError(`--hours takes a number from 1 to 24.\n${USAGE}`);
  return Number(text);
}

try {
  main();
} catch (error) {
  if (!(error instanceof StartError || error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
