/**
 * Checks the answers at a base URL, through any proxy before the service: a proxy that changes headers breaks
 * promises without an error anywhere.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { connect, type TLSSocket } from 'node:tls';
import { FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import { WAITLIST_PATH } from '../../contract/files/object-paths.ts';
import { PUBLIC_CACHE_CONTROL } from '../../contract/files/public-objects.ts';
import { MARKETS_URL, marketUrl, OPENAPI_URL, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { isUnreachable, type Waitlist } from '../../contract/values/waitlist.ts';
import { checkHeaders, Findings } from '../../publisher/verify/check-body.ts';
import { DEFAULT_READ_LIMITS } from '../../publisher/verify/reading/bounded-reader.ts';
import { checkTransport } from '../../publisher/verify/reading/check-transport.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { type Diagnosis, diagnose, fault, ok, warning } from './diagnosis.ts';

const ME_URL = '/api/v1/me';
const HEALTH_PATH = '/healthz';
const PROXY = 'Let the proxy pass on the headers of the service as they are: docs/self-hosting.md.';
const DATE_ROUNDING_MS = 500;
const CLOCK_WARNING_SECONDS = 5;
const CLOCK_FAULT_SECONDS = 60;

const MOST_BYTES = DEFAULT_READ_LIMITS.maxObjectBytes;

/** The answer as received: not decompressed, no redirect followed. */
interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly atMs: number;
}

type Ask = (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Raw>;

/**
 * Of a host of plain files, only that it has them, its certificate and its pages are checked: such a host sends header fields of
 * its own.
 *
 * @param base ends with a slash
 */
export async function examineService(base: URL, timeoutSeconds: number): Promise<readonly Diagnosis[]> {
  const ask: Ask = (path, headers = {}, method = 'GET') =>
    get(new URL(`.${path}`, base), method, headers, timeoutSeconds);
  const certificate = base.protocol === 'https:' ? await examineCertificate(base, timeoutSeconds, Date.now()) : [];
  let hasOnlyFiles = false;
  const first = await diagnose('service', 'Is the service running, and does the proxy know its address?', async () => {
    const found = examineSnapshot(base, await ask(SNAPSHOT_URL));
    if (found.state === 'ok') return found;
    // A host of plain files ignores the query. The service refuses it, so a proxy that breaks other paths is not taken for such a host.
    const { status, body } = await ask(`${SNAPSHOT_URL}.json?doctor=1`);
    const generation = status === 200 ? generationOf(body) : null;
    hasOnlyFiles = generation !== null;
    const detail = `${base.href} has plain files, generation ${generation}; \`tidemark verify\` checks them`;
    return hasOnlyFiles ? ok('service', detail) : found;
  });
  if (first.some(({ state }) => state === 'fault')) return [...certificate, ...first];
  if (hasOnlyFiles)
    return [...certificate, ...first, ...(await diagnose('operator', PROXY, () => examineOperator(ask)))];
  const checks: readonly (readonly [string, () => Promise<Diagnosis | readonly Diagnosis[]>])[] = [
    ['clock of the service', () => examineClock(ask)],
    ['headers', () => examineTransport(ask)],
    ['HEAD', () => examineHead(ask)],
    ['compression', () => examineCompression(ask)],
    ['Age', () => examineAge(ask)],
    ['not found', () => examineNotFound(ask)],
    ['query', () => examineQuery(ask)],
    ['write API', () => examineWriteApi(ask)],
    ['health', () => examineHealth(ask)],
    ['operator', () => examineOperator(ask)],
  ];
  const found = await Promise.all(checks.map(([check, work]) => diagnose(check, PROXY, work)));
  return [...certificate, ...first, ...found.flat()];
}

function examineSnapshot(base: URL, { status, headers, body }: Raw): Diagnosis {
  if (status >= 300 && status < 400) {
    return fault('service', `${base.origin} redirects to ${headers.location}`, 'Use that URL.');
  }
  const generation = status === 200 ? generationOf(body) : null;
  if (generation !== null) return ok('service', `${base.origin}, generation ${generation}`);
  const hint = 'See that the base URL is that of a Tidemark service, and that the service has started.';
  return fault('service', `GET ${SNAPSHOT_URL} was answered ${status}, without a snapshot`, hint);
}

function generationOf(body: string): number | null {
  try {
    const { generation } = JSON.parse(body) as { readonly generation?: unknown };
    return typeof generation === 'number' ? generation : null;
  } catch {
    return null;
  }
}

/** Checks the clock with an answer that no cache can have, because a cached answer may have an old `Date`. */
async function examineClock(ask: Ask): Promise<readonly Diagnosis[]> {
  const { headers, atMs } = await ask(marketUrl(newName()));
  const dateMs = Date.parse(headers.date ?? '');
  if (Number.isNaN(dateMs)) return [];
  // `Date` has whole seconds, and the answer took some time to arrive.
  const seconds = Math.trunc((dateMs + DATE_ROUNDING_MS - atMs) / 1000);
  const direction = seconds < 0 ? 'behind' : 'ahead of';
  const detail = seconds === 0 ? 'agrees with this one' : `is ${Math.abs(seconds)} s ${direction} this one`;
  const hint = 'Run a time service, such as chrony, on both machines: records keep the time of the server for good.';
  if (Math.abs(seconds) > CLOCK_FAULT_SECONDS) return [fault('clock of the service', detail, hint)];
  if (Math.abs(seconds) > CLOCK_WARNING_SECONDS) return [warning('clock of the service', detail, hint)];
  return [ok('clock of the service', detail)];
}

const newName = () => `doctor-${randomUUID().slice(0, 8)}`;

/** Checks one answer as `verify` does: its header fields, and what a poller with the newest bytes gets. */
async function examineTransport(ask: Ask): Promise<readonly Diagnosis[]> {
  const reader: PublicReader = async (url, headers) => {
    const answer = await ask(url, headers);
    const fields = Object.entries(answer.headers).map(([name, value]) => [name, value ?? ''] as const);
    return { status: answer.status, headers: new Map(fields), body: Buffer.from(answer.body) };
  };
  const found = new Findings();
  checkHeaders(found, MARKETS_URL, await reader(MARKETS_URL), 'application/json');
  await checkTransport(reader, found, [MARKETS_URL], false);
  if (found.all.length === 0) return [ok('headers', 'types, caching and CORS are right, and a known ETag gets 304')];
  return found.all.map(({ rule, detail }) => fault(rule, `GET ${MARKETS_URL}: ${detail}`, PROXY));
}

async function examineHead(ask: Ask): Promise<Diagnosis> {
  const { status, body, headers } = await ask(SNAPSHOT_URL, {}, 'HEAD');
  if (status === 200 && body === '' && headers['cache-control'] === PUBLIC_CACHE_CONTROL) return ok('HEAD', '200');
  return fault('HEAD', `returned ${status}, with Cache-Control: ${headers['cache-control'] ?? 'absent'}`, PROXY);
}

async function examineCompression(ask: Ask): Promise<Diagnosis> {
  const { headers } = await ask(OPENAPI_URL, { 'accept-encoding': 'br, gzip' });
  const encoding = headers['content-encoding'];
  if (encoding === undefined) {
    return warning(
      'compression',
      'off: bodies are three to five times as long',
      'Let the proxy pass on Accept-Encoding.',
    );
  }
  if (/\b(accept-encoding|\*)/i.test(headers.vary ?? '')) return ok('compression', encoding);
  return fault('compression', `${encoding} without Vary: Accept-Encoding: caches would send it to every client`, PROXY);
}

async function examineAge(ask: Ask): Promise<Diagnosis> {
  await ask(SNAPSHOT_URL);
  const { headers } = await ask(SNAPSHOT_URL);
  const { age } = headers;
  if (age === undefined) return warning('Age', 'absent: readers cannot see how old an answer is', PROXY);
  const seconds = Number(age);
  const by = headers['cache-status'] === undefined ? '' : `; ${headers['cache-status']}`;
  if (seconds <= FRESH_SECONDS) return ok('Age', `${age} s${by}`);
  if (seconds <= FRESH_SECONDS + STALE_IF_ERROR_SECONDS) {
    return warning('Age', `${age} s${by}: a cache serves a stale answer`, 'Does the cache reach the service?');
  }
  return fault(
    'Age',
    `${age} s${by}: older than the service promises`,
    `Let caches keep answers for ${FRESH_SECONDS} s.`,
  );
}

async function examineNotFound(ask: Ask): Promise<Diagnosis> {
  const { status, headers } = await ask(marketUrl(newName()));
  const type = headers['content-type'];
  if (status === 404 && type === 'application/problem+json') return ok('not found', '404 with a problem document');
  const hint = 'Let the proxy pass on error answers of the service, not pages of its own.';
  return fault('not found', `an unknown market was answered ${status}, ${type ?? 'without a type'}`, hint);
}

async function examineQuery(ask: Ask): Promise<Diagnosis> {
  const { status } = await ask(`${MARKETS_URL}?doctor=1`);
  if (status === 400) return ok('query', 'an unknown parameter is refused');
  const hint = 'Let the proxy pass on the query, and make it part of its cache key: cursors are in it.';
  return fault('query', `an unknown parameter was answered ${status}, and must be 400`, hint);
}

async function examineWriteApi(ask: Ask): Promise<Diagnosis> {
  const { status, headers } = await ask(ME_URL);
  if (status === 404 || status === 403) return ok('write API', 'is at another address');
  if (status !== 401 || headers['www-authenticate'] === undefined) {
    return fault('write API', `without a key it answered ${status}, and must answer 401 with a challenge`, PROXY);
  }
  if (headers['cache-control'] === 'no-store') return ok('write API', 'asks for a key; no-store');
  return fault('write API', `its answers are cached: ${headers['cache-control'] ?? 'no Cache-Control'}`, PROXY);
}

async function examineHealth(ask: Ask): Promise<Diagnosis> {
  const { status, body } = await ask(HEALTH_PATH);
  if (status === 200) return ok('health', 'ok');
  if (status === 404 || status === 403) return ok('health', 'not available at this address');
  return fault('health', `${status}: ${body.slice(0, 300)}`, 'docs/operations.md, "Health of the embedded server".');
}

/** Readers need to know who publishes the data, and requests for keys need an address that exists. */
async function examineOperator(ask: Ask): Promise<Diagnosis> {
  const [pages, waitlist] = [await ask('/'), await ask(WAITLIST_PATH)];
  const stated = /<p class="operator" data-states="([a-z ]*)"/.exec(pages.body)?.[1]?.split(' ') ?? [];
  const settings = { name: 'OPERATOR_NAME', contact: 'OPERATOR_CONTACT', licence: 'DATA_LICENCE' } as const;
  const missing = Object.entries(settings).flatMap(([fact, name]) =>
    pages.status !== 200 || stated.includes(fact) ? [] : [`TIDEMARK_${name}`],
  );
  const says = missing.length === 0 ? [] : ['the pages do not say who operates the service, or on which terms'];
  const { email } = waitlist.status === 200 ? (JSON.parse(waitlist.body) as Pick<Waitlist, 'email'>) : { email: null };
  if (email !== null && isUnreachable(email)) {
    missing.push('TIDEMARK_WAITLIST_EMAIL');
    says.push(`requests for keys go to ${email}, where no mail can arrive`);
  }
  if (missing.length > 0) {
    const hint = `Set ${missing.join(', ')}: docs/self-hosting.md. On AWS they are in cdk.json: docs/deploy.md.`;
    return warning('operator', says.join('; '), hint);
  }
  if (pages.status !== 200) return ok('operator', 'this address has no pages for people');
  return ok('operator', 'the pages state name, contact and licence');
}

async function get(
  url: URL,
  method: string,
  headers: Readonly<Record<string, string>>,
  timeoutSeconds: number,
): Promise<Raw> {
  const send = url.protocol === 'https:' ? overHttps : overHttp;
  // The certificate is checked separately.
  const options = { method, headers, rejectUnauthorized: false, signal: AbortSignal.timeout(timeoutSeconds * 1000) };
  const asking = send(url, options);
  // Also once the answer has begun.
  asking.on('error', () => {}).end();
  const [answer] = (await once(asking, 'response').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${method} ${url.origin}${url.pathname} got no answer: ${error.code ?? error.message}`);
  })) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes > MOST_BYTES) throw new Error(`${method} ${url.pathname} sent too many bytes`);
  }
  const body = Buffer.concat(chunks).toString('utf8');
  return { status: answer.statusCode ?? 0, headers: answer.headers as Raw['headers'], body, atMs: Date.now() };
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** ACME clients usually renew certificates 30 days before they expire. */
const SOON_DAYS = 20;
const RENEW = 'Renew it, and see why it was not renewed by itself: docs/self-hosting.md.';

async function examineCertificate(url: URL, timeoutSeconds: number, nowMs: number): Promise<readonly Diagnosis[]> {
  return await diagnose('certificate', 'Does a server with TLS listen there?', async () => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // A server name is a name, never an address (RFC 6066 section 3).
    const servername = /^[\d.]+$|:/.test(host) ? '' : host;
    const socket = connect({ host, port: Number(url.port || 443), servername, rejectUnauthorized: false });
    try {
      await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutSeconds * 1000) });
      return judge(socket, host, nowMs);
    } finally {
      socket.destroy();
    }
  });
}

function judge(socket: TLSSocket, host: string, nowMs: number): Diagnosis {
  const { valid_to, issuer } = socket.getPeerCertificate();
  const days = Math.floor((Date.parse(valid_to) - nowMs) / DAY_MS);
  const detail = `of ${issuer?.O ?? issuer?.CN ?? 'nobody'}, ${days} days left, ${socket.getProtocol()}`;
  if (days < 0) return fault('certificate', `ended ${-days} days ago`, RENEW);
  if (!socket.authorized) {
    const hint = `Readers refuse it: install one for ${host}, with its whole chain, of an authority that they know.`;
    return fault('certificate', `${detail}: ${socket.authorizationError}`, hint);
  }
  if (days < SOON_DAYS) return warning('certificate', detail, RENEW);
  return ok('certificate', detail);
}
