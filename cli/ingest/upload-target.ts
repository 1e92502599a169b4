/** Where the file of an upload may go: the answer of a service names the place, and must not send the file anywhere else. */
import { CommandError } from '../program/exit-codes.ts';

/**
 * @param named the target as the service names it: a path, or a URL
 * @param storageHost the host of the deployment's storage, as its user has declared it
 * @throws CommandError unless it is at the service itself, or at the declared host by https
 */
export function uploadTarget(named: string, writeUrl: URL, storageHost: string | null): URL {
  if (!URL.canParse(named, writeUrl.href))
    throw new CommandError('unreachable', 'The service names no target for the file.');
  const url = new URL(named, writeUrl);
  const isBare = url.username === '' && url.password === '';
  const isDeclared = url.protocol === 'https:' && url.host === storageHost;
  if (isBare && (url.origin === writeUrl.origin || isDeclared)) return url;
  const hint =
    url.protocol === 'https:'
      ? `If this is the storage of the deployment, declare it: --upload-host ${url.host}, or "uploadHost" in the profile.`
      : 'A file goes to another place than the service itself only by https, and to a declared host.';
  throw new CommandError('usage', `The service sends the file to ${url.origin}, so it was not sent.`, hint);
}
