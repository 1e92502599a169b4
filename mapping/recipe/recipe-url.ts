/** The URL of a recipe. It is public, and leads to one of few hosts. */

import { neverPublicIn } from '../../contract/values/public-text.ts';
import { secretsIn, withoutSecretParameters } from './recipe-secrets.ts';

/** A host name of at least two labels, the last of which begins with a letter. So it is neither an address nor a local name. */
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

const DAY_MS = 86_400_000;

/** The text of each placeholder for the day of a run: that day, the next day, and the next month, as `2026-1`. */
function placeholders(date: string): Readonly<Record<string, string>> {
  const dayMs = Date.parse(date);
  const [year, month] = date.split('-').map(Number) as [number, number];
  return {
    [URL_DATE]: date,
    '{tomorrow}': new Date(dayMs + DAY_MS).toISOString().slice(0, 10),
    '{nextMonth}': month === 12 ? `${year + 1}-1` : `${year}-${month + 1}`,
  };
}

/** Fills in the placeholders for the day of the run. */
export function recipeUrl(template: string, date: string): string {
  return Object.entries(placeholders(date)).reduce((url, [name, text]) => url.replaceAll(name, text), template);
}

/** A date at which no placeholder's text is part of another one's. */
const CHECKED_DATE = '2026-01-02';

/** The fault of a URL template; null: none. */
export function urlFault(template: string, hosts: readonly string[]): string | null {
  const whole = recipeUrl(template, CHECKED_DATE);
  const filled = withoutSecretParameters(whole);
  if (secretsIn(filled).length > 0)
    return `has a secret that is not the whole value of a parameter, such as ?key=\${TEA_KEY}`;
  if (/[{}]/.test(filled)) return 'has a placeholder other than {date}, {tomorrow} and {nextMonth}';
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
  // The parser corrects many faults. A reader must see the URL that is really requested.
  if (url.href !== filled) {
    const texts = Object.entries(placeholders(CHECKED_DATE));
    const written = texts.reduce((href, [name, text]) => href.replaceAll(text, name), url.href);
    return `is not written as it is sent: write ${written}`;
  }
  if (!template.startsWith(`${url.origin}/`)) return 'must write out its host';
  if (!isInternal && !hosts.includes(url.hostname))
    return `asks ${url.hostname}, which is not one of hosts: add it there`;
  return null;
}
