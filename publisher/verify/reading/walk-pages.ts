/** Follows cursors as a reader does; walks the whole list of markets. */
import type * as z from 'zod';
import { type LatestEntry, latestEntry } from '../../../contract/bodies/latest-entries.ts';
import { isCursorOf } from '../../../contract/files/cursors.ts';
import { MARKETS_PAGE_SIZE } from '../../../contract/files/limits.ts';
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { collectionSchema, type Market, marketSchema } from '../../../contract/values/market.ts';
import { type Checked, checkBody, type Findings } from '../check-body.ts';
import type { PublicReader } from './reader.ts';
import { isInShare, type Share } from './share.ts';

interface Collection {
  readonly page: { readonly next: string | null; readonly nextCursor: string | null };
}

/** A page that was read and matches its schema. */
export interface CheckedPage<Value> extends Checked<Value> {
  readonly url: string;
  readonly isFirst: boolean;
}

/** The most findings about wrong pages: more of them would tell nothing new. */
const MISNAMED_PAGES = 10;

/**
 * Every page of a collection, from the first to the last, or to one that cannot be read. It always ends: a cursor that
 * comes again is a finding and is not followed. A cursor names its page by the page's digest, so no server can invent pages
 * while they are read: after some pages with wrong digests, the walk ends.
 */
export async function* walkPages<Value extends Collection>(
  reader: PublicReader,
  findings: Findings,
  firstUrl: string,
  schema: z.ZodType<Value>,
): AsyncGenerator<CheckedPage<Value>> {
  const seen = new Set<string>();
  let misnamed = 0;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const url = cursor === undefined ? firstUrl : `${firstUrl}?cursor=${cursor}`;
    const page = await checkBody(reader, findings, url, schema);
    if (page === null) return;
    if (cursor !== undefined && !isCursorOf(cursor, page.digest)) {
      findings.add(url, 'digest', `holds other bytes than its cursor names: their digest is ${page.digest}`);
      misnamed++;
    }
    yield { ...page, url, isFirst: cursor === undefined };
    cursor = page.value.page.nextCursor;
    if (fileOf(firstUrl, page.value.page.next, url === firstUrl) !== (cursor && `${firstUrl}/pages/${cursor}.json`)) {
      findings.add(url, 'link', `its next file is ${page.value.page.next}, and its next cursor ${cursor}`);
    }
    const expected = cursor === null ? null : `<${firstUrl}?cursor=${cursor}>; rel="next"`;
    // Some hosts cannot send this field.
    if (page.link !== null && page.link !== expected) findings.add(url, 'link', `its field Link is ${page.link}`);
    if (cursor === null || misnamed === MISNAMED_PAGES) return;
    if (seen.has(cursor)) {
      findings.add(url, 'link', `leads back to ${cursor}, a page that was read already`);
      return;
    }
    seen.add(cursor);
  }
}

/** The path of the file to which a page links. */
function fileOf(firstUrl: string, next: string | null, isFirst: boolean): string | null {
  const own = isFirst ? `${firstUrl}.json` : `${firstUrl}/pages/any.json`;
  return next === null ? null : new URL(next, `http://any.invalid${own}`).pathname;
}

const listSchema = collectionSchema(marketSchema, MARKETS_PAGE_SIZE);

export class ListWalk {
  /** The first page; null until it is read, or if it cannot be read. */
  head: Checked<unknown> | null = null;
  /** The number of markets so far, in all shares. */
  markets = 0;
  pages = 0;
  /** The newest price of each market so far, in all shares, without the fields that only its history has. */
  readonly latest: LatestEntry[] = [];

  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #pageSize: number;
  readonly #onItem: ((item: Market) => void) | undefined;

  /** @param onItem receives each item, of all shares */
  constructor(reader: PublicReader, findings: Findings, pageSize: number, onItem?: (item: Market) => void) {
    this.#reader = reader;
    this.#findings = findings;
    this.#pageSize = pageSize;
    this.#onItem = onItem;
  }

  /** Call it once. A page is read only when its first item is needed, so at most one page is in memory. */
  async *itemsOf(share: Share): AsyncGenerator<Market> {
    let before: string | null = null;
    for await (const page of walkPages(this.#reader, this.#findings, MARKETS_URL, listSchema)) {
      this.head ??= page;
      this.pages++;
      const { url } = page;
      const { data } = page.value;
      this.#checkSize(url, data.length, page.isFirst, page.value.page.nextCursor === null);
      for (const item of data) {
        if (before !== null && before >= item.slug)
          this.#findings.add(url, 'order', `${item.slug} comes after ${before}`);
        before = item.slug;
        this.markets++;
        this.latest.push(latestEntry(item, null));
        this.#onItem?.(item);
        if (isInShare(item.slug, share)) yield item;
      }
    }
  }

  #checkSize(url: string, size: number, isFirst: boolean, isLast: boolean): void {
    const fits = isLast ? size <= this.#pageSize && (size > 0 || isFirst) : size === this.#pageSize;
    if (!fits) this.#findings.add(url, 'page-size', `holds ${size} markets, pages hold ${this.#pageSize}`);
  }
}
