/** The URL of a recipe. It is public and asks one of few hosts. */

import { neverPublicIn } from '../../contract/values/public-text.ts';
import { secretsIn, withoutSecretParameters } from './recipe-secrets.ts';

/** A host name of at least two labels, whose last one begins with a letter: so neither an address nor a local name. */
export const hostnamePattern = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const INTERNAL_ORIGIN = new RegExp(`^https?://(${LABEL}\\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?(:[1-9]\\d{0,4})?$`);

/**
 * A host of the operator's own network, with its scheme and its port, such as `http://prices:8080`. It is asked only if the
 * operator of the service names it, too.
 */
export function isInternalOrigin(text: string): boolean {
  return INTERNAL_ORIGIN.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** The placeholder for the day of the run. */
export const URL_DATE = '{date}';

/** Fills in the day of the run. */
export function recipeUrl(template: string, date: string): string {
  return template.replaceAll(URL_DATE, date);
}

/** The fault of a URL template; null if it has none. */
export function urlFault(template: string, hosts: readonly string[]): string | null {
  const whole = recipeUrl(template, '2026-01-02');
  const filled = withoutSecretParameters(whole);
  if (secretsIn(filled).length > 0)
    return `has a secret that is not the whole value of a parameter, such as ?key=\${TEA_KEY}`;
  if (/[{}]/.test(filled)) return 'has a placeholder other than {date}';
  if (!URL.canParse(filled)) return 'is not an absolute URL';
  const url = new URL(filled);
  const isInternal = hosts.includes(url.origin);
  if (url.protocol !== 'https:' && !isInternal) return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or a password: recipes are kept and listed';
  const secret = neverPublicIn(filled);
  if (secret !== null) return `must not hold ${secret}: recipes are kept and listed`;
  if (url.port !== '' && !isInternal) return 'must not name a port: only 443 is asked';
  if (url.hash !== '') return 'must not have a fragment (#…): it is never sent';
  // The parser repairs much; a reader must see the URL that is asked for.
  if (url.href !== filled) return `is not written as it is sent: write ${url.href.replaceAll('2026-01-02', URL_DATE)}`;
  if (!template.startsWith(`${url.origin}/`)) return 'must write out its host';
  if (!isInternal && !hosts.includes(url.hostname))
    return `asks ${url.hostname}, which is not one of hosts: add it there`;
  return null;
}
