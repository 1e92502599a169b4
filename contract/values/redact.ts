/** Removes credentials and addresses from texts for a log, and from names in answers. */
import { EMAIL_ADDRESS } from './public-text.ts';

const REDACTED = '[redacted]';

/**
 * Patterns of credentials, anywhere in a text:
 *
 * - any word after the name of its scheme (RFC 6750);
 * - an API key, or the beginning of one;
 * - a JWT (RFC 7519), complete or cut off: Base64url of an object, which begins with a brace and a quote. A JWT with white
 *   space between brace and quote is matched only as a whole word, because the search would take too long in a long word.
 */
const CREDENTIALS = [
  /(bearer(?:\s|%20|\+)+)(?:bearer(?:\s|%20|\+)+)*[^\s"',;]+/gi,
  /()tdm_[\w-]*/gi,
  /()(?:eyJ[\w-]*|(?<![\w-])e[wy][\w-]{8,}(?=\.))(?:\.[\w-]*)*/g,
];

/** The text without anything that looks like a credential or an e-mail address. If in doubt, it removes too much. */
export function redact(text: string): string {
  const withoutAddresses = text.includes('@') ? text.replace(EMAIL_ADDRESS, REDACTED) : text;
  return CREDENTIALS.reduce((rest, pattern) => rest.replace(pattern, `$1${REDACTED}`), withoutAddresses);
}
