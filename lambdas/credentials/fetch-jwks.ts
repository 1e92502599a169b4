/** Fetches an issuer's keys from the network, for `createTokenVerifier`. */
import { SimpleFetcher } from 'aws-jwt-verify/https';

const fetcher = new SimpleFetcher();

/** By https only. Two tries of 3 seconds. Rejects for every status except 200. */
export async function fetchJwksOverHttps(uri: string): Promise<string> {
  return Buffer.from(await fetcher.fetch(uri)).toString('utf8');
}
