/** Reads the public files of this host: revalidates by ETag, and tells what is missing from what cannot be reached. */

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
const NOT_FAILED = [304, 404, 410];

export class PublicAnswers {
  readonly #fetch: typeof fetch;
  readonly #etags = new Map<string, string>();

  constructor(ask: typeof fetch) {
    this.#fetch = ask;
  }

  /**
   * GETs a JSON body.
   *
   * @param cache `no-cache`: the browser asks whether its copy is still right
   * @throws UnreachableError
   */
  async read(
    path: string,
    cache: 'default' | 'no-cache' = 'default',
  ): Promise<Exclude<PublicAnswer, { kind: 'unchanged' }>> {
    const response = await this.#ask(path, { cache });
    if (response.status === 404) return { kind: 'missing' };
    const body = await jsonOf(response);
    return response.status === 410 ? { kind: 'gone', problem: body } : { kind: 'found', body };
  }

  /** The same; but asks whether the body has changed since the last time. @throws UnreachableError */
  async readAgain(path: string): Promise<PublicAnswer> {
    const etag = this.#etags.get(path);
    // With this header, the browser's cache stays aside: the 304 comes here.
    const response = await this.#ask(path, etag === undefined ? {} : { headers: { 'If-None-Match': etag } });
    if (response.status === 304) return { kind: 'unchanged' };
    if (response.status === 404) return { kind: 'missing' };
    const body = await jsonOf(response);
    if (response.status === 410) return { kind: 'gone', problem: body };
    const found = response.headers.get('ETag');
    if (found !== null) this.#etags.set(path, found);
    return { kind: 'found', body };
  }

  /** Reads a file of JSON lines. Null: it is not there, or too long to be one file. @throws UnreachableError */
  async readLines(path: string): Promise<unknown[] | null> {
    const response = await this.#ask(path, {}, FILE_TIMEOUT_MS);
    if (response.status === 404 || response.status === 410) return null;
    try {
      return await linesOf(response);
    } catch (cause) {
      throw new UnreachableError(`${path} broke off, or is not what it should be`, { cause });
    }
  }

  /** Bytes of a file of the log. Rejects if it is not there. */
  async readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const response = await this.#ask(path, {});
    if (response.status !== 200) throw new UnreachableError(`${path} answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async #ask(path: string, init: RequestInit, timeoutMs = TIMEOUT_MS): Promise<Response> {
    let status: number;
    try {
      const response = await this.#fetch(path, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      ({ status } = response);
      if (response.ok || NOT_FAILED.includes(status)) return response;
    } catch (cause) {
      throw new UnreachableError('the service gave no answer', { cause });
    }
    throw new UnreachableError(`the service answered ${status}`);
  }
}

async function jsonOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const body: unknown = await response.json();
    if (typeof body === 'object' && body !== null) return body as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new UnreachableError('the service gave an answer that is no JSON', { cause });
  }
  throw new UnreachableError('the service gave an answer that is no JSON object');
}

/** Line by line as it comes in, so that a long file never stands in memory as one text. */
async function linesOf(response: Response): Promise<unknown[]> {
  const values: unknown[] = [];
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) values.push(JSON.parse(line));
  }
  if (rest !== '') throw new SyntaxError('the last line is cut off');
  return values;
}
