/**
 * The public files below a base URL, each at its own path, as any static host serves them: `/api/v1/markets` is
 * `api/v1/markets.json`, and `page.next` leads from a page to the file of the next one.
 */
import { parsedJson, unexpected } from './requests.ts';
import { TidemarkError } from './tidemark-error.ts';

/** GETs a text. @param isLaterPage whether its bytes never change and it is read once. @throws TidemarkError */
export type TextReader = (url: URL, isLaterPage: boolean) => Promise<string>;

export interface WalkedPage<Item> {
  readonly data: readonly Item[];
  readonly page: {
    readonly nextCursor: string | null;
    /** The link to the next page, relative to the file of this page. Null: this is the last page. */
    readonly next: string | null;
  };
}

/** A page, and the URL at which it was read. */
export interface ReadPage<Item> extends WalkedPage<Item> {
  readonly url: URL;
}

export class PublicFiles {
  readonly #base: URL;
  readonly #read: TextReader;

  /** @param base see {@link baseUrl} */
  constructor(base: URL, read: TextReader) {
    this.#base = base;
    this.#read = read;
  }

  /** GETs a JSON object by its URL path in the contract, such as `/api/v1/snapshot`. @throws TidemarkError */
  async resource(path: string): Promise<object> {
    return (await this.#get(below(this.#base, `${path}.json`), false)).value as object;
  }

  /** @param cursor null: the first page. @throws TidemarkError */
  async page<Item>(path: string, cursor: string | null = null): Promise<ReadPage<Item>> {
    const file = cursor === null ? `${path}.json` : `${path}/pages/${encodeURIComponent(cursor)}.json`;
    return pageOf<Item>(await this.#get(below(this.#base, file), cursor !== null));
  }

  /** Null: the page was the last one. @throws TidemarkError */
  async nextPage<Item>({ url, page }: ReadPage<Item>): Promise<ReadPage<Item> | null> {
    return page.next === null ? null : pageOf<Item>(await this.#get(this.#linked(page.next, url), true));
  }

  /** GETs the lines of an NDJSON file. @param link relative to the resource with this path. @throws TidemarkError */
  async lines<Line>(link: string, path: string): Promise<readonly Line[]> {
    const url = this.#linked(link, below(this.#base, `${path}.json`));
    const lines = (await this.#text(url, false)).split('\n');
    if (lines.pop() !== '') throw unexpected(url, 'is cut off');
    return lines.map((line) => parsedJson(line, url) as Line);
  }

  async #text(url: URL, isLaterPage: boolean): Promise<string> {
    return await this.#read(url, isLaterPage).catch((error: unknown) => {
      // A static host answers with its own page.
      const isPlain = isMissing(error) && error.code === 'unexpected-answer';
      throw isPlain ? noFile(url, error) : error;
    });
  }

  async #get(url: URL, isLaterPage: boolean): Promise<Found> {
    // No name of a file has `%`. Hosts that decode it would give another file.
    if (url.href.includes('%', this.#base.href.length)) throw noFile(url);
    const value = parsedJson(await this.#text(url, isLaterPage), url);
    if (typeof value === 'object' && value !== null) return { value, url };
    throw unexpected(url, 'is not a JSON object');
  }

  /** The target of a link. @throws TidemarkError for a link to another host, or outside the base URL */
  #linked(link: string, from: URL): URL {
    // The link of a file never has `:`, `\`, `%` or `?`, and hosts interpret these differently.
    const isPath = /^[\w./-]+$/.test(link) && URL.canParse(link, from.href);
    const url = isPath ? new URL(link, from) : null;
    if (url?.href.startsWith(this.#base.href)) return url;
    throw unexpected(from, `leads to ${JSON.stringify(link)}, which is not a file below ${this.#base.href}`);
  }
}

function noFile({ href }: URL, cause?: unknown): TidemarkError {
  return new TidemarkError('not-found', { status: 404, detail: `there is no file ${href}`, cause });
}

interface Found {
  readonly value: unknown;
  readonly url: URL;
}

/** @throws TidemarkError for an answer that is not a page of a collection */
export function pageOf<Item>({ value, url }: Found): ReadPage<Item> {
  const { data, page } = (value ?? {}) as WalkedPage<Item>;
  const isLink = (link: unknown) => link === null || typeof link === 'string';
  if (Array.isArray(data) && isLink(page?.nextCursor) && isLink(page.next)) return { data, page, url };
  throw unexpected(url, 'is not a page of a collection');
}

export function isMissing(error: unknown): error is TidemarkError {
  return error instanceof TidemarkError && error.status === 404;
}

/** The URL of a path of the contract, such as `/api/v1/snapshot`. */
export function below(base: URL, path: string): URL {
  return new URL(`.${path}`, base);
}

/**
 * The address below which the files are: a host, or a folder on a host, as in `https://user.github.io/data/`. It ends with a
 * slash, so that paths are relative to it.
 *
 * @throws RangeError if the text is not a URL, or has other parts than scheme, host, port and path
 */
export function baseUrl(address: string | URL, name: string): URL {
  const text = String(address);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) {
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    return url;
  }
  // Without the part that may be a password.
  const shown = text.replace(/\/\/.*@/, '//…@');
  throw new RangeError(`${name} must be the address of a service, such as https://data.example, not ${shown}`);
}
