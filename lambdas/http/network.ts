/** The addresses that requests come from, and those that servers listen on. */
import { isIPv4, isIPv6 } from 'node:net';

/** IPv4 in the form of IPv6 (RFC 4291, section 2.5.5.2). */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * Names the sender's network: its address, or the first 64 bits of an IPv6 address, because one customer usually has all
 * addresses with the same 64 bits.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined) return '';
  const mapped = MAPPED.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = (address.split('%', 1)[0] as string).split('::');
  const parts = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - parts.length - after.length;
  return [...parts, ...Array.from({ length: zeros }, () => '0'), ...after].slice(0, 4).join(':');
}

/** Whether only this machine can connect to a server that listens on this host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
