/** Looks up a host for a connection, and returns only addresses that are allowed. */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** The host is not at a public address, or the URL is not allowed. A retry cannot succeed. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

/**
 * One address that is not allowed refuses the host. A public name server has no reason to return it, so its other addresses are
 * not trusted either.
 */
export function guardedLookup(lookup: LookupFunction, mayConnect: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '');
      const addresses = (found as LookupAddress[]).map(({ address, family }) => ({ address, family }));
      const refused = addresses.find(({ address }) => !mayConnect(address));
      if (refused !== undefined) {
        return callback(new NotAllowed(`${hostname} is at ${refused.address}, which is not a public address`), '');
      }
      const [first] = addresses;
      if (first === undefined) return callback(new NotAllowed(`${hostname} has no address`), '');
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
