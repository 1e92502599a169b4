/**
 * The text about a fault in a row of data: the field, the value that was sent, and the rule. Mappings and the service both
 * use it.
 */
import { neverPublicIn } from '../values/public-text.ts';
import { redact } from '../values/redact.ts';

const VALUE_CHARACTERS = 60;
const FIELD_CHARACTERS = 80;

/** An invisible character, or a space other than the plain one. */
const HIDDEN = /[[\p{C}\p{Z}]--\x20]/gv;

/** User name and password of a URL (RFC 3986, section 3.2.1). */
const USER_OF_URL = /\/\/[^/?#\s]*@/;

/**
 * @param path the path of the field in its record
 * @param value left out unless it is a text, a number or a boolean, and left out if it contains a credential or an address:
 *   reports are stored, and others than the sender may read them
 */
export function refusalText(path: readonly PropertyKey[], value: unknown, rule: string): string {
  const field = redact(path.map(String).join('.')).slice(0, FIELD_CHARACTERS);
  const place = [field, shownValue(value)].filter((part) => part !== '').join(' ');
  return place === '' ? rule : `${place}: ${rule}`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || neverPublicIn(value) !== null || USER_OF_URL.test(value)) return '';
  return quotedText(value, VALUE_CHARACTERS);
}

/** The text as a JSON string in which all characters are visible; shortened if it has more characters than `most`. */
export function quotedText(text: string, most = Number.POSITIVE_INFINITY): string {
  const characters = text.length <= most ? text : `${text.slice(0, most)}…`;
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(redact(characters)).replaceAll(HIDDEN, (hidden) => hidden.split('').map(escaped).join(''));
}

/** Whether a text contains an invisible character, or a space other than the plain one. */
export function holdsHidden(text: string): boolean {
  return text.search(HIDDEN) !== -1;
}
