import { type Problem, problem } from '../../contract/problems/problems.ts';

export type QueryResult = { readonly query: Readonly<Record<string, string>> } | { readonly problem: Problem };

/** The beginnings of API keys, JWTs and Authorization values. Cursors begin with other characters. */
const CREDENTIAL_VALUE = /^\s*(?:tdm_|eyJ|bearer\s)/;

/** Compared without case, hyphens and underscores. */
const CREDENTIAL_NAMES: ReadonlySet<string> = new Set(['accesstoken', 'token', 'apikey', 'key', 'authorization']);

/**
 * Splits and decodes a query (RFC 3986, sections 2.1 and 3.4). A plus is a plus as in that standard, not a space as in
 * HTML forms, because times and identifiers may hold one. Every name occurs once. The object has no prototype, so
 * `constructor` and the like are ordinary names.
 *
 * URLs are kept in logs, histories and `Referer` fields. So anything like a credential is refused as
 * `credential-in-url`: its sender must learn that it has leaked. Every other fault is `invalid-request`. No problem
 * repeats any part of the query.
 */
export function readQuery(rawQueryString: string): QueryResult {
  const query: Record<string, string> = Object.create(null);
  if (rawQueryString === '') return { query };
  const pairs = rawQueryString.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [decode(name), decode(value.join('='))] as const;
  });
  // Checked first: the credential has leaked, even if the query is refused for another reason.
  if (pairs.some(([name, value]) => isCredentialName(name.text) || [name, value].some(isCredential))) {
    const detail = 'The URL holds a credential: revoke it, and send another one in the Authorization header field.';
    return { problem: problem('credential-in-url', detail) };
  }
  for (const [name, value] of pairs) {
    if (!name.isValid || !value.isValid) return refuse('The query holds a % that does not begin an octet of UTF-8.');
    if (name.text === '') return refuse('The query holds a parameter without a name.');
    if (name.text in query) return refuse('The query holds a parameter twice: send each parameter once.');
    query[name.text] = value.text;
  }
  return { query };
}

function isCredentialName(name: string): boolean {
  return CREDENTIAL_NAMES.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
}

function isCredential({ text }: Decoded): boolean {
  return CREDENTIAL_VALUE.test(text);
}

function refuse(detail: string): QueryResult {
  return { problem: problem('invalid-request', detail) };
}

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
