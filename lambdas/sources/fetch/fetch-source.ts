/**
 * Asks a source for its data, over https only, and only the hosts of its recipe at public addresses; and internal hosts that
 * the operator of the service has named, as they are named.
 *
 * A recipe comes from an operator, and the name servers and redirects from others. So a request is made so that nobody
 * can turn it into a request to the inside of the operator's network:
 *
 * 0. An internal host is asked if both the recipe and the operator of the service name its scheme, name and port. No public host can redirect to
 *    it. The points 1 to 3 are for all others.
 * 1. The host of each URL, that of the recipe and that of each redirect, is in the recipe's list. No other port than
 *    443 is asked, no other scheme than https, and no host that is written as an address.
 * 2. The addresses of the host are checked by the look-up that the connection itself makes. There is no second look-up,
 *    so a name server cannot answer one of them with a public address and the other with a private one.
 * 3. The server must show a valid certificate for the host.
 * 4. No proxy, cookie or credential is used but those of the recipe, which go to its own host alone: nothing of this machine's environment changes a request.
 */
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { LookupFunction } from 'node:net';
import { decodedBody } from './decoded-body.ts';
import { type FetchFailure, failureOf, failureOfStatus } from './fetch-failure.ts';
import { guardedLookup, NotAllowed } from './guarded-lookup.ts';
import { isPublicAddress } from './public-address.ts';
import { allowedUrl, isInternal, redirectTarget } from './redirects.ts';

export interface FetchRequest {
  readonly url: string;
  /** The only hosts that may be asked, also after redirects. */
  readonly hosts: readonly string[];
  /** Of the body, as it is sent and as it is decoded. */
  readonly maxBytes: number;
  /** For everything, with redirects. */
  readonly timeoutSeconds: number;
  /** Of the answer that is known; null: ask without conditions. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Of the recipe: sent to the host of the URL, and after a redirect to no other. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a text holds something that no other host may see. */
  readonly isSecret?: (text: string) => boolean;
}

export type FetchAnswer =
  | {
      readonly kind: 'answer';
      /** Without its content coding. */
      readonly bytes: Uint8Array;
      readonly etag: string | null;
      readonly lastModified: string | null;
    }
  | { readonly kind: 'not-modified' }
  | FetchFailure;

/** The network that requests go to. Tests have one of their own; the service has {@link INTERNET} and no other. */
export interface FetchNetwork {
  readonly lookup: LookupFunction;
  readonly mayConnect: (address: string) => boolean;
  readonly port: number;
  /** Internal hosts, as origins, that the operator allows. Left out: none. */
  readonly internal?: ReadonlySet<string>;
  /** Certificates to trust, instead of those that Node trusts. */
  readonly ca?: string;
}

export const INTERNET: FetchNetwork = {
  lookup: systemLookup as LookupFunction,
  mayConnect: isPublicAddress,
  port: 443,
};

const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

/** Longer validators are not sent back: the next request has no condition. */
const VALIDATOR_CHARACTERS_MAX = 1024;

/** Asks once. Never rejects for a fault of the source, of the network or of the request. */
export async function fetchSource(asked: FetchRequest, network: FetchNetwork = INTERNET): Promise<FetchAnswer> {
  const signal = AbortSignal.timeout(asked.timeoutSeconds * 1000);
  // Of its own, so that no connection is kept, and none goes through a proxy that the environment names.
  const settings = { keepAlive: false, maxSockets: 1 };
  const agents = { 'http:': new HttpAgent(settings), 'https:': new Agent(settings) };
  const allowed = { hosts: asked.hosts, internal: network.internal ?? new Set<string>() };
  try {
    let url = allowedUrl(asked.url, allowed);
    const { origin } = url;
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
      if (url.origin !== origin && asked.isSecret?.(url.href)) {
        throw new NotAllowed(`the source redirects to ${url.host} with the secret in the URL`);
      }
      const own = url.origin === origin ? asked : { ...asked, headers: {} };
      const response = await ask(url, own, isInternal(url, allowed) ? null : network, agents, signal);
      const status = response.statusCode ?? 0;
      if (!REDIRECT_STATUSES.includes(status)) return await answerOf(response, asked);
      response.destroy();
      url = redirectTarget(url, response.headers.location, allowed);
    }
    throw new NotAllowed(`the source redirects more than ${REDIRECTS_MAX} times`);
  } catch (error) {
    return failureOf(signal.aborted ? signal.reason : error, asked.timeoutSeconds);
  } finally {
    for (const agent of Object.values(agents)) agent.destroy();
  }
}

/** @param network null: the URL is internal, and says itself how it is asked */
function ask(
  url: URL,
  { etag, lastModified, headers: own }: FetchRequest,
  network: FetchNetwork | null,
  agents: { readonly 'http:': HttpAgent; readonly 'https:': Agent },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: '*/*',
      ...own,
      'accept-encoding': 'gzip, br',
      'user-agent': 'tidemark',
      ...(etag !== null && { 'if-none-match': etag }),
      ...(lastModified !== null && { 'if-modified-since': lastModified }),
    };
    // Explicit, because an environment variable can turn the default off.
    const common = { headers, signal, rejectUnauthorized: true } as const;
    const sent =
      network === null
        ? url.protocol === 'http:'
          ? httpRequest(url, { ...common, agent: agents['http:'] })
          : request(url, { ...common, agent: agents['https:'] })
        : request(url, {
            ...common,
            agent: agents['https:'],
            lookup: guardedLookup(network.lookup, network.mayConnect),
            port: network.port,
            ...(network.ca !== undefined && { ca: network.ca }),
          });
    sent.on('response', resolve);
    sent.on('error', reject);
    sent.end();
  });
}

async function answerOf(
  response: IncomingMessage,
  { maxBytes, etag, lastModified }: FetchRequest,
): Promise<FetchAnswer> {
  const { statusCode: status = 0, headers } = response;
  const isConditional = etag !== null || lastModified !== null;
  if (status === 200) {
    const bytes = await decodedBody(response, maxBytes);
    return {
      kind: 'answer',
      bytes,
      etag: validator(headers.etag),
      lastModified: validator(headers['last-modified']),
    };
  }
  response.destroy();
  if (status === 304 && isConditional) return { kind: 'not-modified' };
  return failureOfStatus(status, headers['retry-after'], Date.now());
}

function validator(header: string | undefined): string | null {
  return header === undefined || header === '' || header.length > VALIDATOR_CHARACTERS_MAX ? null : header;
}
