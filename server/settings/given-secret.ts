/** Secrets that are no files of the data folder: a job has them from its secret store. */
import { SettingError } from '../service/start-error.ts';
import { readOwnersFile } from './private-files.ts';

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
