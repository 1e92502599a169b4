/** Walks the whole list of markets, and gives the markets of a share. */
import { collectionSchema, type Market, marketSchema } from '../../contract/market.ts';
import { MARKETS_URL } from '../../contract/routes.ts';
import type { Checked, Findings } from './check-body.ts';
import type { PublicReader } from './reader.ts';
import { isInShare, type Share } from './share.ts';
import { walkPages } from './walk-pages.ts';

const listSchema = collectionSchema(marketSchema);

export class ListWalk {
  /** The first page; null until it is read, or if it cannot be read. */
  head: Checked<unknown> | null = null;
  /** The number of markets so far, of all shares. */
  markets = 0;
  pages = 0;

  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #pageSize: number;

  constructor(reader: PublicReader, findings: Findings, pageSize: number) {
    this.#reader = reader;
    this.#findings = findings;
    this.#pageSize = pageSize;
  }

  /** To be called once. Reads on only when the next item is taken, so that at most one page is in memory. */
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
        if (isInShare(item.slug, share)) yield item;
      }
    }
  }

  #checkSize(url: string, size: number, isFirst: boolean, isLast: boolean): void {
    const fits = isLast ? size <= this.#pageSize && (size > 0 || isFirst) : size === this.#pageSize;
    if (!fits) this.#findings.add(url, 'page-size', `holds ${size} markets, pages hold ${this.#pageSize}`);
  }
}
