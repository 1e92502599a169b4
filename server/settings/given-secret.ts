/** Secrets that are no files of the data folder: a job has them from its secret store. */
import type { SourceSecret } from '../../lambdas/sources/fetch/secrets.ts';
import { secretName } from '../../mapping/recipe/recipe-secrets.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import { readOwnersFile } from './private-files.ts';
import { SECRET_PREFIX } from './settings-help.ts';

export interface GivenSecret {
  /** For messages. */
  readonly place: string;
  readonly text: string;
}

/**
 * The value of the variable, or the content of the file that `<variable>_FILE` names. Null: neither is set.
 *
 * @throws SettingError for a file that is missing, or that others may read; and if both are set
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
