/**
 * Secrets of a recipe, by name: `${ENTSOE_TOKEN}` as the value of a URL parameter, or in a header. The recipe contains only the
 * name, and operators can read it. The value is known only where the request is made.
 */

const NAME = '[A-Z][A-Z0-9_]{1,59}';
const PLACEHOLDER = new RegExp(`\\$\\{(${NAME})\\}`, 'g');
/** A parameter of a query whose value is a secret. */
const PARAMETER = new RegExp(`([?&])[^?&=#{}]+=\\$\\{${NAME}\\}(&?)`, 'g');

export const secretName = new RegExp(`^${NAME}$`);

export function secretsIn(text: string): readonly string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

export function withSecrets(text: string, secretFor: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => secretFor(name));
}

/** The URL, or its template, without secret parameters. Readers may see it. */
export function withoutSecretParameters(url: string): string {
  // If two such parameters are adjacent, removing the first also removes the `&` between them.
  let [before, after] = ['', url];
  while (before !== after) {
    before = after;
    after = before.replace(PARAMETER, (_, mark: string, next: string) => (mark === '?' && next === '&' ? '?' : next));
  }
  return after;
}

/** Header fields that the HTTP client sets itself, or that would end the connection. */
const RESERVED =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding|user-agent|range|if-.*|proxy-.*)$/;
/** Header fields that always hold a credential. */
const CREDENTIAL = /^(authorization|cookie)$|(api|access|auth|subscription)?[-_]?(key|token|secret)$/;

/** The fault of a header; null: none. */
export function headerFault(name: string, value: string): string | null {
  if (RESERVED.test(name)) return 'is set by the fetch itself';
  if (CREDENTIAL.test(name) && secretsIn(value).length === 0) {
    return `holds a credential: name it as a secret, such as \${TEA_KEY}, because recipes are kept and listed`;
  }
  return null;
}
