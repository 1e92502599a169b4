import { refusal } from './refused-request.ts';

/** The beginnings of API keys, JWTs and Authorization values. Cursors begin with other characters. */
const CREDENTIAL_VALUE = /^\s*(?:tdm_|eyJ|bearer\s)/;

/** Compared without case, hyphens and underscores. */
const CREDENTIAL_NAMES: ReadonlySet<string> = new Set(['accesstoken', 'token', 'apikey', 'key', 'authorization']);

/**
 * URLs are kept in logs, histories and `Referer` fields. So anything like a credential is refused as `credential-in-url`: its
 * sender must learn that it has leaked, even if the query is refused for another reason. The problem repeats no part of the
 * query.
 */
export function refuseCredentialsIn(rawQueryString: string): void {
  const texts = pairsOf(rawQueryString).map((pair) => pair.map(({ text }) => text));
  if (!texts.some(([name = '', value = '']) => isCredentialName(name) || [name, value].some(isCredential))) return;
  const detail = 'The URL holds a credential: revoke it, and send another one in the Authorization header field.';
  throw refusal('credential-in-url', detail);
}

/**
 * Splits and decodes a query (RFC 3986, sections 2.1 and 3.4). A plus is a plus as in that standard, not a space as in
 * HTML forms, because times and identifiers may hold one. Every name occurs once. The object has no prototype, so
 * `constructor` and the like are ordinary names. Every fault is `invalid-request`.
 */
export function readQuery(rawQueryString: string): Readonly<Record<string, string>> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of pairsOf(rawQueryString)) {
    if (!name.isValid || !value.isValid) throw refused('The query holds a % that does not begin an octet of UTF-8.');
    if (name.text === '') throw refused('The query holds a parameter without a name.');
    if (name.text in query) throw refused('The query holds a parameter twice: send each parameter once.');
    query[name.text] = value.text;
  }
  return query;
}

function pairsOf(rawQueryString: string): readonly (readonly [Decoded, Decoded])[] {
  if (rawQueryString === '') return [];
  return rawQueryString.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decode(name), decode(value.join('='))];
  });
}

function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}

function isCredential(text: string): boolean {
  return CREDENTIAL_VALUE.test(text);
}

const refused = (detail: string) => refusal('invalid-request', detail);

interface Decoded {
  /** The raw text, if it is not valid. */
  readonly text: string;
  readonly isValid: boolean;
}

function decode(part: string): Decoded {
  try {
    const text = decodeURIComponent(part);
    return { text, isValid: text.isWellFormed() };
  } catch {
    return { text: part, isValid: false };
  }
}
