/** Reads the public files beside the pages: revalidates by ETag, and distinguishes a missing file from a failed request. */
import { below, PublicFiles } from '../../../typescript/public-files.ts';
import { decodedText, Requests, type SentRequest, type SettledAnswer } from '../../../typescript/requests.ts';
import { THIS_SYSTEM } from '../../../typescript/system.ts';
import { TidemarkError } from '../../../typescript/tidemark-error.ts';
import { BASE_URL } from '../base-url.ts';
import { PageTurns } from './turns.ts';

/** The service gave no answer, or one that cannot be used. The message says why. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

export type PublicAnswer =
  | { readonly kind: 'found'; readonly body: unknown }
  /** The body is the one that was found before. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'missing' }
  /** 410, with its problem document. */
  | { readonly kind: 'gone'; readonly problem: Readonly<Record<string, unknown>> };

const TIMEOUT_MS = 20_000;
/** A file of 24 MiB on a slow line. */
const FILE_TIMEOUT_MS = 300_000;

const isMissing = (status: number): boolean => status === 404 || status === 410;

export class PublicAnswers {
  readonly #base: URL;
  readonly #requests: Requests;
  readonly #files: Requests;
  readonly #etags = new Map<string, string>();

  /** @param base of the files. They are of the version of the pages */
  constructor(ask: typeof fetch = THIS_SYSTEM.fetch, base: URL = BASE_URL) {
    this.#base = base;
    // A page asks again by itself, and says so meanwhile.
    const settings = { patienceMs: 0, bodies: null, system: { ...THIS_SYSTEM, fetch: ask } };
    this.#requests = new Requests({ ...settings, timeoutMs: TIMEOUT_MS });
    this.#files = new Requests({ ...settings, timeoutMs: FILE_TIMEOUT_MS });
  }

  /**
   * Reads as the client does. Null: what was asked for is missing, or gone.
   *
   * @param cache `no-cache`: the browser asks whether its copy is still right
   * @throws UnreachableError
   */
  async found<Value>(
    ask: (files: PublicFiles) => Promise<Value>,
    cache: 'default' | 'no-cache' = 'default',
  ): Promise<Value | null> {
    const text = async (url: URL) =>
      decodedText((await this.#requests.send({ method: 'GET', url, cache, signal: undefined })).body);
    try {
      return await ask(new PublicFiles(this.#base, text));
    } catch (cause) {
      if (cause instanceof TidemarkError && isMissing(cause.status ?? 0)) return null;
      throw unreachable(cause);
    }
  }

  /** GETs a JSON body, and asks whether it has changed since the last time. @throws UnreachableError */
  async readAgain(path: string): Promise<PublicAnswer> {
    const etag = this.#etags.get(path);
    // With this header, the browser's cache stays aside: the 304 comes here. A copy of the first time may be older than
    // the history, which is read anew.
    const asked = etag === undefined ? { cache: 'no-cache' as const } : { headers: { 'if-none-match': etag } };
    const answer = await this.#ask(path, asked);
    if (answer.status === 304) return { kind: 'unchanged' };
    const found = bodyOf(answer);
    const newest = answer.headers.get('ETag');
    if (found.kind === 'found' && newest !== null) this.#etags.set(path, newest);
    return found;
  }

  /**
   * Reads a file of JSON lines. Null: it is not there, or too long to be one file.
   *
   * @param cache `no-cache`: the browser asks whether its copy is still right
   * @throws UnreachableError
   */
  async readLines(path: string, cache: 'default' | 'no-cache' = 'default'): Promise<unknown[] | null> {
    const lines = new JsonLines();
    const { status } = await this.#ask(path, { cache, onPiece: (piece) => lines.take(piece) }, this.#files);
    if (isMissing(status)) return null;
    try {
      return lines.end();
    } catch (cause) {
      throw new UnreachableError(`${path} broke off, or is not what it should be`, { cause });
    }
  }

  /** Bytes of a file of the log. Rejects if it is not there. */
  async readBytes(path: string, cache: 'default' | 'reload' = 'default'): Promise<Uint8Array<ArrayBuffer>> {
    const { status, body } = await this.#ask(path, { cache });
    if (status === 200) return body;
    throw new UnreachableError(`${path} answered ${status}`);
  }

  async #ask(path: string, asked: Partial<SentRequest>, requests = this.#requests): Promise<Answer> {
    const url = below(this.#base, path);
    try {
      return await requests.send({ method: 'GET', url, accepts: isMissing, signal: undefined, ...asked });
    } catch (cause) {
      throw unreachable(cause);
    }
  }
}

function unreachable(cause: unknown): UnreachableError {
  const { status = null } = cause as Partial<TidemarkError>;
  const words =
    status === null ? 'gave no answer' : status === 200 ? 'gave an answer that cannot be read' : `answered ${status}`;
  return new UnreachableError(`the service ${words}`, { cause });
}

type Answer = SettledAnswer<Uint8Array<ArrayBuffer>>;

function bodyOf({ status, body }: Answer): Exclude<PublicAnswer, { kind: 'unchanged' }> {
  if (status === 404) return { kind: 'missing' };
  const value = jsonOf(body);
  return status === 410 ? { kind: 'gone', problem: value } : { kind: 'found', body: value };
}

function jsonOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(decodedText(bytes));
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new UnreachableError('the service gave an answer that is not JSON', { cause });
  }
  throw new UnreachableError('the service gave an answer that is not a JSON object');
}

/** Reads JSON lines while they come in: a long file never stands in memory as a whole, and the page answers between two pieces. */
class JsonLines {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  readonly #turns = new PageTurns();
  readonly #values: unknown[] = [];
  #rest = '';

  /** @param piece some of the bytes, which may end within a character. Rejects if a line is not JSON */
  async take(piece: Uint8Array): Promise<void> {
    const lines = (this.#rest + this.#decoder.decode(piece, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#values.push(JSON.parse(line));
    if (this.#turns.isOver) await this.#turns.next();
  }

  /** The value of each line. @throws SyntaxError if the last line is cut off */
  end(): unknown[] {
    if (this.#rest + this.#decoder.decode() !== '') throw new SyntaxError('the last line is cut off');
    return this.#values;
  }
}
