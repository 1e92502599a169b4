/**
 * The public files below a base URL, each at its own path, as any static host serves them: `/api/v1/markets` is
 * `api/v1/markets.json`, and `page.next` leads from a page to the file of the next one.
 *
 * A server of an earlier version has neither. Then the URLs without an extension are read, and `?cursor=`.
 */
import { parsedJson, unexpected } from './requests.ts';
import { TidemarkError } from './tidemark-error.ts';

/** GETs a text. @param isLaterPage its bytes never change, and it is read once. @throws TidemarkError */
export type TextReader = (url: URL, isLaterPage: boolean) => Promise<string>;

export interface WalkedPage<Item> {
  readonly data: readonly Item[];
  readonly page: {
    readonly nextCursor: string | null;
    /** Relative to the file of this page. Absent: the page was rendered by an earlier version. */
    readonly next?: string | null;
  };
}

/** A page, and where it was read. */
export interface ReadPage<Item> extends WalkedPage<Item> {
  readonly url: URL;
}

/** What is known of a host. */
export interface HostKind {
  /** Whether it has files at their own paths. Null: not known yet. */
  hasFiles: boolean | null;
}

export class PublicFiles {
  readonly #base: URL;
  readonly #read: TextReader;
  readonly #host: HostKind;

  /** @param base see {@link baseUrl} */
  constructor(base: URL, read: TextReader, host: HostKind = { hasFiles: null }) {
    this.#base = base;
    this.#read = read;
    this.#host = host;
  }

  /** GETs a JSON object by its URL path in the contract, such as `/api/v1/snapshot`. @throws TidemarkError */
  async resource(path: string): Promise<object> {
    return (await this.#fileOr(path, `${path}.json`, false)).value as object;
  }

  /** @param cursor null: of the first page. @throws TidemarkError */
  async page<Item>(path: string, cursor: string | null = null): Promise<ReadPage<Item>> {
    if (cursor === null) return pageOf<Item>(await this.#fileOr(path, `${path}.json`, false));
    const name = encodeURIComponent(cursor);
    return pageOf<Item>(await this.#fileOr(`${path}?cursor=${name}`, `${path}/pages/${name}.json`, true));
  }

  /** Null: it was the last one. @param path of the first page. @throws TidemarkError */
  async nextPage<Item>(path: string, { url, page }: ReadPage<Item>): Promise<ReadPage<Item> | null> {
    if (isLast({ page })) return null;
    // A link is relative to the file, so it says nothing of a page that was read by cursor.
    if (typeof page.next !== 'string' || this.#host.hasFiles !== true) return await this.page(path, page.nextCursor);
    return pageOf<Item>(await this.#get(this.#linked(page.next, url), true));
  }

  /** @param path of the same bytes, as a server of an earlier version has them */
  async #fileOr(path: string, file: string, isLaterPage: boolean): Promise<Found> {
    if (this.#host.hasFiles === false) return await this.#get(below(this.#base, path), isLaterPage);
    try {
      const found = await this.#get(below(this.#base, file), isLaterPage);
      this.#host.hasFiles = true;
      return found;
    } catch (error) {
      if (this.#host.hasFiles || !isMissing(error)) throw error;
      const found = await this.#get(below(this.#base, path), isLaterPage).catch((other: unknown) => {
        // A static host may list a folder at this URL, or redirect: then the file is what is missing.
        throw other instanceof TidemarkError && other.code === 'unexpected-answer' ? error : other;
      });
      this.#host.hasFiles = false;
      return found;
    }
  }

  async #get(url: URL, isLaterPage: boolean): Promise<Found> {
    const text = await this.#read(url, isLaterPage).catch((error: unknown) => {
      // A static host answers with a page of its own.
      const isPlain = isMissing(error) && error.code === 'unexpected-answer';
      throw isPlain
        ? new TidemarkError('not-found', { status: 404, detail: `there is no file ${url.href}`, cause: error })
        : error;
    });
    const value = parsedJson(text, url);
    if (typeof value === 'object' && value !== null) return { value, url };
    throw unexpected(url, 'is no JSON object');
  }

  /** Where a link leads. @throws TidemarkError for a link to another host, or out of the base URL */
  #linked(link: string, from: URL): URL {
    // Without `:`, `\`, `%` and `?`: the link of a file has none, and hosts read them in different ways.
    const isPath = /^[\w./-]+$/.test(link) && URL.canParse(link, from.href);
    const url = isPath ? new URL(link, from) : null;
    if (url?.href.startsWith(this.#base.href)) return url;
    throw unexpected(from, `leads to ${JSON.stringify(link)}, which is no file below ${this.#base.href}`);
  }
}

interface Found {
  readonly value: unknown;
  readonly url: URL;
}

/** Whether a page leads to no further one. */
export function isLast({ page: { next, nextCursor } }: Pick<WalkedPage<unknown>, 'page'>): boolean {
  return (next === undefined ? nextCursor : next) === null;
}

/** @throws TidemarkError for an answer that is no page of a collection */
export function pageOf<Item>({ value, url }: Found): ReadPage<Item> {
  const { data, page } = (value ?? {}) as WalkedPage<Item>;
  const isLink = (link: unknown) => link === null || typeof link === 'string';
  if (Array.isArray(data) && isLink(page?.nextCursor) && (page?.next === undefined || isLink(page.next))) {
    return { data, page, url };
  }
  throw unexpected(url, 'is no page of a collection');
}

export function isMissing(error: unknown): error is TidemarkError {
  return error instanceof TidemarkError && error.status === 404;
}

/** The URL of a path of the contract, such as `/api/v1/snapshot`. */
export function below(base: URL, path: string): URL {
  return new URL(`.${path}`, base);
}

/**
 * The address below which the files are: a host, or a folder on one, as in `https://user.github.io/data/`. It ends with a
 * slash, so that paths are relative to it.
 *
 * @throws RangeError if the text is no URL, or has more than a host, a port and a path
 */
export function baseUrl(address: string | URL, name: string): URL {
  const text = String(address);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) {
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    return url;
  }
  // Without what may be a password.
  const shown = text.replace(/\/\/.*@/, '//…@');
  throw new RangeError(`${name} must be the address of a service, as in https://data.example: ${shown}`);
}
