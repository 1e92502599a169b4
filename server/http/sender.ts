/** The sender of a request: the other end of the connection, or the client of a proxy that the operator has named. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Addresses and networks (CIDR) of trusted proxies. */
export type Proxies = readonly string[];

export interface Senders {
  /** The address of the sender. A sender cannot forge it. */
  addressOf(request: IncomingMessage): string;
  /**
   * Whether a trusted proxy asks for bytes that are not from the cache (`no-cache`, RFC 9111, section 5.2.1.4). Other clients
   * may not: it would cost them nothing, and us a read of the store for each request.
   */
  wantsNewest(request: IncomingMessage): boolean;
}

/** Whether this is an address, or a network such as `10.0.0.0/8`. */
export function isProxy(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

/** @throws TypeError if {@link isProxy} is false for one of them */
export function createSenders(proxies: Proxies): Senders {
  const believed = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/');
    if (prefix === undefined) believed.addAddress(address, familyOf(address));
    else believed.addSubnet(address, Number(prefix), familyOf(address));
  }
  // BlockList recognises an IPv4 address that is written as IPv6.
  const isBelieved = (address: string) =>
    proxies.length > 0 && isIP(address) !== 0 && believed.check(address, familyOf(address));

  /** Each proxy appends the address of its client. So the last address that is not a trusted proxy was seen by one. */
  function addressOf(request: IncomingMessage): string {
    let address = request.socket.remoteAddress ?? '';
    if (!isBelieved(address)) return address;
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    for (const claimed of forwarded.reverse().map((text) => text.trim())) {
      if (isIP(claimed) === 0) break;
      address = claimed;
      if (!isBelieved(address)) break;
    }
    return address;
  }

  return {
    addressOf,
    wantsNewest: (request) =>
      request.headers['cache-control'] === 'no-cache' && isBelieved(request.socket.remoteAddress ?? ''),
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
