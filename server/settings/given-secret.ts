/** Secrets from the environment, such as a job's secret store, instead of the data folder. */
import type { SourceSecret } from '../../lambdas/sources/fetch/secrets.ts';
import { secretName } from '../../mapping/recipe/recipe-secrets.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import { readOwnersFile } from './private-files.ts';
import { SECRET_PREFIX } from './settings-help.ts';

export interface GivenSecret {
  /** The origin of the secret, for messages. */
  readonly place: string;
  readonly text: string;
}

/**
 * The value of the variable, or the content of the file that `<variable>_FILE` names. Null: neither is set.
 *
 * @throws SettingError if the file is missing or readable for other users, or if both are set
 */
export function readGivenSecret(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
): GivenSecret | null {
  const { [variable]: text, [`${variable}_FILE`]: file } = environment;
  if (text && file) throw new SettingError(`${variable} and ${variable}_FILE are both set: unset one of them.`);
  if (text) return { place: variable, text: text.trim() };
  if (!file) return null;
  const content = readOwnersFile(file);
  if (content === null) throw new SettingError(`${variable}_FILE is ${file}, and there is no such file.`);
  return { place: file, text: content.trim() };
}

/** A host, and a value of printable ASCII. The least length keeps values from matching parts of ordinary answers. */
const HOST_AND_VALUE = /^([a-z0-9.-]+(?::\d+)?) +([!-~]{8,4096})$/;

/**
 * Reads the secrets with their hosts. Only the environment names the host, so the author of a recipe cannot send a secret
 * elsewhere.
 *
 * @throws StartError for a file that other users can read, and for malformed text. No message contains a value
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
        `${given.place} is not a secret: write the host, a space, and the value of at least 8 characters. Its name has capitals, digits and underscores.`,
      );
    }
    secrets.set(name, { host, value });
  }
  return secrets;
}
