/**
 * Fetches the data of a source: over https, and only from the hosts of its recipe at public addresses. Internal hosts are
 * allowed as the operator of the service has named them.
 *
 * An operator writes the recipe, but others control name servers and redirects. They must not be able to direct a request into
 * the operator's network:
 *
 * 0. An internal host is asked only if both the recipe and the operator of the service name its scheme, name and port. No
 *    public host can redirect to it. Points 1 to 3 apply to all other hosts.
 * 1. The host of each URL, in the recipe and in each redirect, must be in the recipe's list. The port must be 443, the scheme
 *    https, and the host must not be written as an address.
 * 2. The look-up of the connection itself checks the host's addresses. There is no second look-up, so a name server cannot
 *    answer one with a public address and the other with a private one.
 * 3. The server must show a valid certificate for the host.
 * 4. No proxy, cookie or credential is used except those of the recipe, which are sent only to its own host. This machine's
 *    environment does not change a request.
 */
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Recipe } from '../../../mapping/recipe/recipe.ts';
import { decodedBody } from './decoded-body.ts';
import { type FetchFailure, failureOf, failureOfStatus } from './fetch-failure.ts';
import { guardedLookup, NotAllowed } from './guarded-lookup.ts';
import { isPublicAddress } from './public-address.ts';
import { allowedUrl, isInternal, redirectTarget } from './redirects.ts';

export interface FetchRequest {
  readonly url: string;
  /** The only hosts that may be asked, including redirects. */
  readonly hosts: readonly string[];
  /** The limit of the body, in received bytes and in decoded bytes. */
  readonly maxBytes: number;
  /** The time limit of the whole fetch, including redirects. */
  readonly timeoutSeconds: number;
  /** The validator of the known answer; null: ask without conditions. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** The header fields of the recipe. They are sent to the host of the URL, and to no other host after a redirect. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The packing of the file in the answer. */
  readonly unpack?: Recipe['unpack'];
  /** Whether a text contains a secret that no other host may receive. */
  readonly isSecret?: (text: string) => boolean;
}

export type FetchAnswer =
  | {
      readonly kind: 'answer';
      /** The body without its content coding. */
      readonly bytes: Uint8Array;
      readonly etag: string | null;
      readonly lastModified: string | null;
    }
  | { readonly kind: 'not-modified' }
  | FetchFailure;

/** The network for requests. Tests have their own; the service uses only {@link INTERNET}. */
export interface FetchNetwork {
  readonly lookup: LookupFunction;
  readonly mayConnect: (address: string) => boolean;
  readonly port: number;
  /** The internal hosts that the operator allows, as origins. Default: none. */
  readonly internal?: ReadonlySet<string>;
  /** Trusted certificates, instead of those that Node trusts. */
  readonly ca?: string;
}

export const INTERNET: FetchNetwork = {
  lookup: systemLookup as LookupFunction,
  mayConnect: isPublicAddress,
  port: 443,
};

const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

/** A longer validator is not sent back: then the next request has no condition. */
const VALIDATOR_CHARACTERS_MAX = 1024;

/** Makes one request. Never rejects for a fault of the source, of the network or of the request. */
export async function fetchSource(asked: FetchRequest, network: FetchNetwork = INTERNET): Promise<FetchAnswer> {
  const signal = AbortSignal.timeout(asked.timeoutSeconds * 1000);
  // A separate agent: it keeps no connection, and uses no proxy from the environment.
  const settings = { keepAlive: false, maxSockets: 1 };
  const agents = { 'http:': new HttpAgent(settings), 'https:': new Agent(settings) };
  const allowed = { hosts: asked.hosts, internal: network.internal ?? new Set<string>(), isSecret: asked.isSecret };
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

/** @param network null: the URL is internal, and states its own scheme and port */
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
    // Set explicitly, because an environment variable can turn the default off.
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
    // Without a listener, node:http closes the connection and reports nothing: the fetch would never end, even at its time limit.
    sent.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response);
    });
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
