/** The URL of a recipe. It is public and asks one of few hosts. */

import { neverPublicIn } from '../../contract/public-text.ts';

/** A host name of at least two labels, whose last one begins with a letter: so neither an address nor a local name. */
export const hostnamePattern = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;

/** The placeholder for the day of the run. */
export const URL_DATE = '{date}';

/** Fills in the day of the run. */
export function recipeUrl(template: string, date: string): string {
  return template.replaceAll(URL_DATE, date);
}

/** The fault of a URL template; null if it has none. */
export function urlFault(template: string, hosts: readonly string[]): string | null {
  const filled = recipeUrl(template, '2026-01-02');
  if (/[{}]/.test(filled)) return 'has a placeholder other than {date}';
  if (!URL.canParse(filled)) return 'is not an absolute URL';
  const url = new URL(filled);
  if (url.protocol !== 'https:') return 'must begin with https://';
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or a password: recipes are kept and listed';
  const secret = neverPublicIn(filled);
  if (secret !== null) return `must not hold ${secret}: recipes are kept and listed`;
  if (url.port !== '') return 'must not name a port: only 443 is asked';
  if (url.hash !== '') return 'must not have a fragment (#…): it is never sent';
  // The parser repairs much; a reader must see the URL that is asked for.
  if (url.href !== filled) return `is not written as it is sent: write ${url.href.replaceAll('2026-01-02', URL_DATE)}`;
  if (!template.startsWith(`https://${url.host}/`)) return 'must write out its host';
  if (!hosts.includes(url.hostname)) return `asks ${url.hostname}, which is not one of hosts: add it there`;
  return null;
}
