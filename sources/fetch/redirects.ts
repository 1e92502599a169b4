/** The URLs that may be asked. */
import { isIP } from 'node:net';
import { NotAllowed } from './guarded-lookup.ts';

/** Of a URL in an error. It may have come from a server. */
const SHOWN_CHARACTERS = 200;

/** @throws NotAllowed if the URL may not be asked */
export function allowedUrl(text: string, hosts: readonly string[]): URL {
  if (!URL.canParse(text)) throw new NotAllowed(`${shown(text)} is no URL`);
  const url = new URL(text);
  if (url.protocol !== 'https:') throw new NotAllowed(`${shown(text)} does not begin with https://`);
  if (url.username !== '' || url.password !== '') throw new NotAllowed('a URL holds a user name or a password');
  if (url.port !== '') throw new NotAllowed(`${shown(text)} names a port: only 443 is asked`);
  // An address needs no look-up, so none would check it.
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0 || !hosts.includes(url.hostname)) {
    throw new NotAllowed(`${shown(url.hostname)} is not one of the recipe's hosts (${hosts.join(', ')})`);
  }
  return url;
}

/** @throws NotAllowed if the redirect may not be followed */
export function redirectTarget(from: URL, location: string | undefined, hosts: readonly string[]): URL {
  if (location === undefined || !URL.canParse(location, from.href)) {
    throw new NotAllowed(`${from.hostname} redirects to ${location === undefined ? 'nothing' : shown(location)}`);
  }
  return allowedUrl(new URL(location, from).href, hosts);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
}
