/** Settings in the environment that no part of Tidemark reads, and that look like one that the server does or did. */
import type { Environment } from './config.ts';
import { SECRET_PREFIX } from './source-secrets.ts';

const PREFIX = 'TIDEMARK_';
/** Of the server. */
const SETTINGS = [
  ...[
    'AUDIENCE',
    'DATA',
    'DATA_LICENCE',
    'ISSUER',
    'JWKS_URI',
    'LOCAL_ISSUER',
    'LOG',
    'LOG_KEY',
    'LOG_KEY_FILE',
    'LOG_NEXT_KEY',
    'LOG_ORIGIN',
  ],
  ...[
    'METRICS_HOST',
    'METRICS_PORT',
    'OPERATOR_CONTACT',
    'OPERATOR_NAME',
    'PROJECTIONS',
    'PROXIES',
    'READ_BASE_URL',
    'SAMPLE',
    'SCOPE_PREFIX',
    'SOURCE_HOSTS',
    'STATE_KEY',
    'STATE_KEY_FILE',
    'TO',
    'UPLOADS_KEPT_DAYS',
  ],
  ...['VERIFY_HOURS', 'WAITLIST_EMAIL', 'WITNESSES'],
];
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
