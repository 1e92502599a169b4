/**
 * Secrets of a recipe, by name: `${ENTSOE_TOKEN}` as the value of a parameter of its URL, or in a header. The recipe has the name
 * alone, and is public to operators; the value is known where the request is made.
 */

/** As a whole, and anywhere in a text. */
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

/** The URL, or its template, without the parameters that are secrets: readers may see it. */
export function withoutSecretParameters(url: string): string {
  // Of two such parameters side by side, the first one takes the `&` between them.
  let [before, after] = ['', url];
  while (before !== after) {
    before = after;
    after = before.replace(PARAMETER, (_, mark: string, next: string) => (mark === '?' && next === '&' ? '?' : next));
  }
  return after;
}

/** Those that a request sets itself, or that end it. */
const RESERVED =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding|user-agent|range|if-.*|proxy-.*)$/;
/** They hold a credential by their nature. */
const CREDENTIAL = /^(authorization|cookie)$|(api|access|auth|subscription)?[-_]?(key|token|secret)$/;

/** The fault of a header; null if it has none. */
export function headerFault(name: string, value: string): string | null {
  if (RESERVED.test(name)) return 'is set by the fetch itself';
  if (CREDENTIAL.test(name) && secretsIn(value).length === 0) {
    return `holds a credential: name it as a secret, such as \${TEA_KEY}, because recipes are kept and listed`;
  }
  return null;
}
