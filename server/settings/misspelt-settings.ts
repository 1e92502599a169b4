/** Settings in the environment that no part of Tidemark reads, and that look like one that the server does or did. */
import type { Environment } from './config.ts';
import { SETTINGS_HELP } from './settings-help.ts';
import { SECRET_PREFIX } from './source-secrets.ts';

const PREFIX = 'TIDEMARK_';
/** Of the server; and of runs, which also keep their state. */
const SETTINGS = [
  ...(SETTINGS_HELP.match(new RegExp(`(?<=${PREFIX})[A-Z_]+`, 'g')) ?? []),
  ...['STATE_KEY', 'STATE_KEY_FILE'],
].sort();
/** Of the other commands, in the same shell. */
const OTHERS = ['CONFIG', 'KEY', 'KEY_FILE', 'PROFILE', 'URL', 'WRITE_URL'];
/** Of a name, from its first letter. Fewer letters in common may be a variable of somebody else. */
const LETTERS_IN_COMMON = 3;

/** A line for each. Not an error: another version may know the setting. */
export function misspeltSettings(environment: Environment): readonly string[] {
  return Object.keys(environment).flatMap((variable) => {
    const name = variable.startsWith(PREFIX) ? variable.slice(PREFIX.length) : '';
    if (name === '' || variable.startsWith(SECRET_PREFIX) || SETTINGS.includes(name) || OTHERS.includes(name))
      return [];
    const [nearest = ''] = SETTINGS.toSorted((one, other) => lettersInCommon(other, name) - lettersInCommon(one, name));
    if (lettersInCommon(nearest, name) < LETTERS_IN_COMMON) return [];
    return [`Unknown setting ${variable}, ignored. Did you mean ${PREFIX}${nearest}?`];
  });
}

function lettersInCommon(setting: string, name: string): number {
  let count = 0;
  while (count < setting.length && setting[count] === name[count]) count++;
  return count;
}
