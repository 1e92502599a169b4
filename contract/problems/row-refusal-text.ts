/** The text of a fault in a row of data: the field, the value that was sent, and the rule. Mappings and the service both use it. */
import { neverPublicIn } from '../values/public-text.ts';
import { redact } from '../values/redact.ts';

const VALUE_CHARACTERS = 60;
const FIELD_CHARACTERS = 80;

/** Not visible, or a space that is not the plain one. */
const HIDDEN = /[[\p{C}\p{Z}]--\x20]/gv;

/** User name and password of a URL (RFC 3986, section 3.2.1). */
const USER_OF_URL = /\/\/[^/?#\s]*@/;

/**
 * @param path of the field in its record
 * @param value left out for a value that is no text, number or truth, and for one with a credential or an address:
 *   reports are stored, and read by others than the sender
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

/** As a JSON string in which all characters are visible; cut if it has more characters than `most`. */
export function quotedText(text: string, most = Number.POSITIVE_INFINITY): string {
  const characters = text.length <= most ? text : `${text.slice(0, most)}…`;
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(redact(characters)).replaceAll(HIDDEN, (hidden) => hidden.split('').map(escaped).join(''));
}

/** Whether a text holds an invisible character, or a space that is not the plain one. */
export function holdsHidden(text: string): boolean {
  return text.search(HIDDEN) !== -1;
}
