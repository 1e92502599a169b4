import { isIP } from 'node:net';
import { NotAllowed } from './guarded-lookup.ts';

/** The limit for a URL in an error, because it may come from a server. */
const SHOWN_CHARACTERS = 200;

/** The hosts of a recipe, and the internal hosts that the operator of the service has named. */
export interface AllowedHosts {
  readonly hosts: readonly string[];
  /** As origins. Each is asked only if the recipe names it, too. */
  readonly internal: ReadonlySet<string>;
  /** Whether a text contains a secret. */
  readonly isSecret?: ((text: string) => boolean) | undefined;
}

/** Whether both the recipe and the operator name its scheme, host and port. */
export function isInternal(url: URL, { hosts, internal }: AllowedHosts): boolean {
  return hosts.includes(url.origin) && internal.has(url.origin);
}

/** @throws NotAllowed if the URL is not allowed */
export function allowedUrl(text: string, allowed: AllowedHosts): URL {
  const { hosts } = allowed;
  if (!URL.canParse(text)) throw new NotAllowed(`${shown(text, allowed)} is not a URL`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') throw new NotAllowed('a URL holds a user name or a password');
  if (isInternal(url, allowed)) return url;
  if (hosts.includes(url.origin)) {
    throw new NotAllowed(`${url.origin} is not public, and TIDEMARK_SOURCE_HOSTS of the service does not name it`);
  }
  if (url.protocol !== 'https:') throw new NotAllowed(`${shown(text, allowed)} does not begin with https://`);
  if (url.port !== '') throw new NotAllowed(`${shown(text, allowed)} names a port: only 443 is asked`);
  // The host is an address, so no look-up would check it.
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0 || !hosts.includes(url.hostname)) {
    throw new NotAllowed(`${shown(url.hostname, allowed)} is not one of the recipe's hosts (${hosts.join(', ')})`);
  }
  return url;
}

/** @throws NotAllowed if the redirect must not be followed */
export function redirectTarget(from: URL, location: string | undefined, allowed: AllowedHosts): URL {
  if (location === undefined || !URL.canParse(location, from.href)) {
    throw new NotAllowed(
      `${from.hostname} redirects to ${location === undefined ? 'nothing' : shown(location, allowed)}`,
    );
  }
  const target = allowedUrl(new URL(location, from).href, allowed);
  // Otherwise a public server could choose the internal URL to ask.
  if (isInternal(target, allowed) && !isInternal(from, allowed)) {
    throw new NotAllowed(`${from.hostname}, a public host, redirects to ${target.origin}, an internal one`);
  }
  return target;
}

/** A part of a secret would not be recognised later, so the whole text is searched. */
function shown(text: string, { isSecret }: AllowedHosts): string {
  return isSecret?.(text) ? '[secret]' : JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
}
