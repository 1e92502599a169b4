/** Fetches an issuer's keys from the network: what deployments give to `createTokenVerifier`. */
import { SimpleFetcher } from 'aws-jwt-verify/https';

const fetcher = new SimpleFetcher();

/** By https only; gives up after 3 seconds, twice. Rejects for every status but 200. */
export async function fetchJwksOverHttps(uri: string): Promise<string> {
  return Buffer.from(await fetcher.fetch(uri)).toString('utf8');
}
