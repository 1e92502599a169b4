/**
 * The two interfaces of a deployment: public reads without a key, and the write API with a key. All requests can be retried:
 * reads change nothing, and writes have an idempotency key.
 */
import { below, isMissing, PublicFiles, type TextReader } from '../../clients/typescript/public-files.ts';
import { Requests, type SentRequest } from '../../clients/typescript/requests.ts';
import { THIS_SYSTEM } from '../../clients/typescript/system.ts';
import { isCursorOf } from '../../contract/files/cursors.ts';
import { diskFault } from '../../storage/ports/disk-fault.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note } from '../program/output.ts';
import { type GlobalOptions, needKey, type Profile, readProfile } from '../program/profile.ts';
import { toCommandError } from './refusals.ts';

const JSON_TYPE = 'application/json';
const PATIENCE_MS = 120_000;
/** The wait for a server that has never answered, which probably does not run. */
const UNKNOWN_SERVER_MS = 2_000;
/** A longer wait is reported to the user. */
const SILENT_MS = 2_000;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as text; empty for 204 and 304. */
  readonly text: string;
}

export interface Client {
  readonly profile: Profile;
  /** GETs a public path, such as `/api/v1/markets/gold-usd/history.csv`, without a key. */
  read(path: string, accepts?: readonly number[]): Promise<HttpAnswer>;
  call(call: Call): Promise<HttpAnswer>;
  /** Calls an operation of the write API that answers with a resource, as JSON. */
  resource<Resource>(call: Call): Promise<Resource>;
  /** Public bodies, and the pages of collections. @throws TidemarkError */
  readonly files: PublicFiles;
}

export interface Call {
  /** Default: GET. */
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  /** The idempotency key of a write, which has one effect under this key. Default: a new key. */
  readonly idempotencyKey?: string | undefined;
}

export async function openClient(options: GlobalOptions): Promise<Client> {
  return clientOf(await readProfile(options), options, fetch);
}

/**
 * The client of a write API in this process, which needs no key. A fault of this process, such as a full disk, is thrown as it
 * is: a retry would not help, and the caller knows the disk. Storage that is only unavailable is asked again.
 */
export function localClient(options: GlobalOptions, api: typeof fetch): Client {
  const url = new URL('http://localhost');
  const faults = new AbortController();
  const asked: typeof fetch = async (...request) => {
    try {
      return await api(...request);
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || diskFault(error) !== null) faults.abort(error);
      throw error;
    }
  };
  const profile = { readUrl: url, writeUrl: url, uploadHost: null, key: 'local', keySource: '' };
  return clientOf(profile, options, asked, faults.signal);
}

function clientOf(profile: Profile, options: GlobalOptions, fetched: typeof fetch, signal?: AbortSignal): Client {
  const requests = requestsOf(options, fetched);
  const send = async (request: Omit<SentRequest, 'signal'>): Promise<HttpAnswer> => {
    const { status, headers, body } = await requests.send({ ...request, signal });
    return { status, headers, text: new TextDecoder().decode(body) };
  };
  const get = (path: string, accepted: readonly number[] = []) =>
    send({ method: 'GET', url: below(profile.readUrl, path), accepts: (status) => accepted.includes(status) });
  const call = async ({ method = 'GET', path, headers = {}, body, idempotencyKey }: Call): Promise<HttpAnswer> => {
    const request = {
      method,
      url: below(profile.writeUrl, path),
      headers: {
        authorization: `Bearer ${needKey(profile, options)}`,
        ...(body === undefined ? {} : { 'content-type': JSON_TYPE }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(method === 'GET' ? {} : { idempotencyKey: idempotencyKey ?? THIS_SYSTEM.newKey() }),
    };
    return await send(request).catch((error: unknown) => toCommandError(error, profile.keySource));
  };
  const readText: TextReader = async (url, isLaterPage) => {
    const { text } = await send({ method: 'GET', url }).catch((error) => tellExpired(error, isLaterPage));
    if (isLaterPage) checkPage(url, text);
    return text;
  };
  return {
    profile,
    read: (path, accepts) => get(path, accepts).catch(toCommandError),
    call,
    resource: async <Resource>(asked: Call) => jsonOf(await call(asked)) as Resource,
    files: new PublicFiles(profile.readUrl, readText),
  };
}

/** Requests for a command: no redirect is followed, and the user sees why the command waits. */
function requestsOf({ timeout, patience }: GlobalOptions, fetched: typeof fetch): Requests {
  let hasAnswered = false;
  const ask: typeof fetch = async (url, init) => {
    const headers = { 'user-agent': 'tidemark', ...(init?.headers as Record<string, string>) };
    const response = await fetched(url, { ...init, headers });
    hasAnswered = true;
    return response;
  };
  return new Requests({
    timeoutMs: timeout * 1000,
    get patienceMs() {
      return patience === undefined ? (hasAnswered ? PATIENCE_MS : UNKNOWN_SERVER_MS) : patience * 1000;
    },
    bodies: null,
    redirect: 'manual',
    system: { ...THIS_SYSTEM, fetch: ask },
    onWait: ({ message }, pauseMs) => {
      if (pauseMs > SILENT_MS) note(`${message}. Next try in ${Math.ceil(pauseMs / 1000)} s.`);
    },
  });
}

function tellExpired(error: unknown, isLaterPage: boolean): never {
  if (isLaterPage && isMissing(error)) note('The cursor has expired: reading again from the first page.');
  throw error;
}

/**
 * A cursor names a page by the digest of its bytes. So no page can link to an earlier one, and no page can be made during a
 * walk. Each walk ends, whatever the server answers.
 */
function checkPage({ pathname, searchParams }: URL, text: string): void {
  const cursor = searchParams.get('cursor') ?? pathname.replace(/^.*\/|\.json$/g, '');
  if (isCursorOf(cursor, sha256Hex(text))) return;
  const message = `The page ${pathname} is not the one that its cursor ${cursor} names.`;
  throw new CommandError('unreachable', message, 'See what is wrong there: tidemark verify');
}

/** @throws CommandError if the body is not JSON */
export function jsonOf({ text }: Pick<HttpAnswer, 'text'>): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandError(
      'unreachable',
      'The answer is not JSON.',
      'Check that the base URL is that of a Tidemark service, and that no proxy answers for it.',
      { cause },
    );
  }
}
