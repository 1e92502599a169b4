/** Looks a host up for a connection, and gives only addresses that may be connected to. */
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** A host that is not at a public address, or a URL that may not be asked. To try again makes no sense. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed';
}

/**
 * One address that is not allowed refuses the host: a public name server has no reason to give it, so the other
 * addresses of the same answer are not trusted either.
 */
export function guardedLookup(lookup: LookupFunction, mayConnect: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '');
      const addresses = (found as LookupAddress[]).map(({ address, family }) => ({ address, family }));
      const refused = addresses.find(({ address }) => !mayConnect(address));
      if (refused !== undefined) {
        return callback(new NotAllowed(`${hostname} is at ${refused.address}, which is no public address`), '');
      }
      const [first] = addresses;
      if (first === undefined) return callback(new NotAllowed(`${hostname} has no address`), '');
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };
}
