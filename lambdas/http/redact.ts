/** Takes credentials out of texts that go to a log. */

const REDACTED = '[redacted]';

/**
 * What a credential looks like, wherever it stands in a text:
 *
 * - after the name of its scheme (RFC 6750), whatever it is;
 * - an API key, or the beginning of one;
 * - a JWT (RFC 7519), whole or cut off: Base64url of an object, which begins with a brace and a quote; or with white
 *   space between, but then only as a whole word, lest the search take long on a long one.
 */
const CREDENTIALS = [
  /(bearer(?:\s|%20|\+)+)(?:bearer(?:\s|%20|\+)+)*[^\s"',;]+/gi,
  /()tdm_[\w-]*/gi,
  /()(?:eyJ[\w-]*|(?<![\w-])e[wy][\w-]{8,}(?=\.))(?:\.[\w-]*)*/g,
];

/** The text without anything that looks like a credential. Errs on the side of taking out too much. */
export function redact(text: string): string {
  return CREDENTIALS.reduce((rest, pattern) => rest.replace(pattern, `$1${REDACTED}`), text);
}
