/**
 * The last prices of the rows on the screen, from their histories. A service with many markets has no file with those of all
 * markets: it would be too large.
 */
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { type RecentEntry, RecentPrices } from '../../../../contract/bodies/recent-prices.ts';
import { historyUrl } from '../../../../contract/files/routes.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import type { ReadPage } from '../../../typescript/public-files.ts';
import type { PublicAnswers } from '../history/public-answers.ts';

const AT_ONCE = 4;
/** The pause before reading: a reader who types or scrolls on soon has other rows. */
const REST_MS = 200;
/** The limit of pages: the newest page may have just begun, with few prices. */
const PAGES_MAX = 2;

export class RowPrices {
  /** By slug. */
  readonly recent = new Map<string, RecentEntry>();
  readonly #answers: Pick<PublicAnswers, 'found'>;
  readonly #onRead: () => void;
  /** The entries on the current page of the table, by slug. */
  #entries: ReadonlyMap<string, LatestEntry> = new Map();
  /** The `updatedAt` of the entry whose prices were read, by slug. */
  readonly #readOf = new Map<string, string | null>();
  readonly #visible = new Set<string>();
  #observer: IntersectionObserver | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #telling: ReturnType<typeof setTimeout> | undefined;
  #reading = 0;

  /** @param onRead called when prices of more rows are known */
  constructor(answers: Pick<PublicAnswers, 'found'>, onRead: () => void) {
    this.#answers = answers;
    this.#onRead = onRead;
  }

  /** @param rows the elements of these entries, with their slug in `data-slug` */
  watch(entries: readonly LatestEntry[], rows: Iterable<HTMLElement>): void {
    this.#observer ??= new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        const { slug = '' } = (target as HTMLElement).dataset;
        if (isIntersecting) this.#visible.add(slug);
        else this.#visible.delete(slug);
      }
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#readVisible(), REST_MS);
    });
    this.#entries = new Map(entries.map((entry) => [entry.slug, entry]));
    this.#observer.disconnect();
    this.#visible.clear();
    for (const row of rows) this.#observer.observe(row);
  }

  #readVisible(): void {
    for (const slug of this.#visible) {
      const entry = this.#entries.get(slug);
      if (this.#reading >= AT_ONCE) return;
      if (entry === undefined || entry.decimal === null || this.#readOf.get(slug) === entry.updatedAt) continue;
      this.#readOf.set(slug, entry.updatedAt);
      this.#reading++;
      void this.#read(slug).finally(() => {
        this.#reading--;
        this.#readVisible();
      });
    }
  }

  /** If a history cannot be read, its row has no chart until its next price. */
  async #read(slug: string): Promise<void> {
    const recent = await lastPrices(this.#answers, slug).catch(() => null);
    if (recent === null) return;
    this.recent.set(slug, recent);
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#onRead();
    }, REST_MS);
  }
}

/** Null: there is no such history. @throws UnreachableError */
async function lastPrices(answers: Pick<PublicAnswers, 'found'>, slug: string): Promise<RecentEntry | null> {
  const prices = new RecentPrices();
  let page: ReadPage<PublicObservation> | null = await answers.found((files) => files.page(historyUrl(slug)));
  if (page === null) return null;
  for (let pages = 1; page !== null; pages++) {
    const { data, page: links }: ReadPage<PublicObservation> = page;
    for (const row of data) prices.add(row, () => decimalOf(row));
    if (prices.isWhole || links.next === null) return prices.entryWithYear(slug);
    if (prices.isComplete || pages === PAGES_MAX) break;
    const before: ReadPage<PublicObservation> = page;
    page = await answers.found((files) => files.nextPage(before));
  }
  return prices.entry(slug);
}
