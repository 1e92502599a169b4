/** Secrets that recipes name: `TIDEMARK_SECRET_ENTSOE_TOKEN="web-api.tp.entsoe.eu <the token>"`, or `…_FILE`. */
import type { SourceSecret } from '../../lambdas/sources/fetch/secrets.ts';
import { secretName } from '../../mapping/recipe/recipe-secrets.ts';
import { StartError } from '../service/start-error.ts';
import { readGivenSecret } from './given-secret.ts';

export const SECRET_PREFIX = 'TIDEMARK_SECRET_';

/** A host, and a value of printable ASCII. A short value would be found in any answer. */
const HOST_AND_VALUE = /^([a-z0-9.-]+(?::\d+)?) +([!-~]{8,4096})$/;

/**
 * The host is the service's word: who may write recipes can send a secret nowhere else.
 *
 * @throws StartError for a file that others may read, and for a text of another form. No message holds a value
 */
export function readSourceSecrets(environment: {
  readonly [name: string]: string | undefined;
}): ReadonlyMap<string, SourceSecret> {
  const secrets = new Map<string, SourceSecret>();
  for (const variable of Object.keys(environment)) {
    if (!variable.startsWith(SECRET_PREFIX)) continue;
    const name = variable.slice(SECRET_PREFIX.length).replace(/_FILE$/, '');
    const given = readGivenSecret(environment, `${SECRET_PREFIX}${name}`);
    if (given === null) continue;
    const [, host, value] = HOST_AND_VALUE.exec(given.text) ?? [];
    if (!secretName.test(name) || host === undefined || value === undefined) {
      throw new StartError(
        `${given.place} is no secret: write the host, a space, and the value of at least 8 characters. Its name has capitals, digits and underscores.`,
      );
    }
    secrets.set(name, { host, value });
  }
  return secrets;
}
