/** What this process knows of the copy, so that a round looks only at what has changed since. */

import { RECENT_MARKETS_MAX, RECENT_ROWS_MAX } from '../../contract/files/recent-prices.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { isShowable } from '../../contract/values/showable.ts';
import { publicObservation } from '../../publisher/core/bodies/render.ts';
import type { FoldedMarket } from '../../publisher/core/log/folded-market.ts';
import { ReadPrices } from '../../publisher/projections/latest/check-latest.ts';
import type { MirrorCopy } from './copy.ts';
import { copiedMarkets } from './reached.ts';

/** An item of the list that is proven, and whose market is in the copy at that revision or a later one. */
interface KnownItem {
  readonly digest: string;
  readonly revision: number;
  readonly observations: number;
  readonly unknownValues: number;
}

export class KnownMarkets {
  /** The prices of the proven items, as the log has them. */
  readonly prices = new ReadPrices();
  /** Removed markets whose documents are in the copy. */
  readonly gone = new Set<string>();
  /** The parts of the files for other programs that show the markets of the copy as they are, with their revisions. */
  readonly compat = new Map<string, string>();
  readonly #items = new Map<string, KnownItem>();
  #slugs: Set<string> | null = null;

  /** Markets that the copy has, without removed ones. Reads the folder once. */
  async slugs(copy: MirrorCopy): Promise<Set<string>> {
    this.#slugs ??= new Set(await copiedMarkets(copy));
    return this.#slugs;
  }

  /** To be called for each market that is put, or whose removal is put. */
  note(slug: string, isShown: boolean): void {
    if (isShown) this.#slugs?.add(slug);
    else this.#slugs?.delete(slug);
  }

  /** @param digest of the item */
  isKnown(slug: string, digest: string): boolean {
    return this.#items.get(slug)?.digest === digest;
  }

  revisionOf(slug: string): number | undefined {
    return this.#items.get(slug)?.revision;
  }

  /** @param folded the market by the log, at the revision of the item; null: there is no log */
  add(slug: string, digest: string, revision: number, folded: FoldedMarket | null): void {
    const record = folded?.record(null);
    const { observations = 0, unknownValues = 0 } = record ?? {};
    this.#items.set(slug, { digest, revision, observations, unknownValues });
    if (folded === null || record === undefined) return;
    const { quantity } = record.unit;
    const rows: PublicObservation[] = [];
    for (const { observation } of folded.observations.slice(-RECENT_ROWS_MAX).reverse()) {
      const row = publicObservation(observation, quantity) as unknown as PublicObservation;
      rows.push(row);
      // A long list has no file of last prices: then the newest price is enough.
      if (this.#items.size > RECENT_MARKETS_MAX && row.metric === 'price' && isShowable(row)) break;
    }
    this.prices.add(slug, rows);
  }

  /** The counts of these markets by the log. */
  countsOf(slugs: ReadonlySet<string>): Snapshot['counts'] {
    const counts = { markets: slugs.size, observations: 0, unknownValues: 0 };
    for (const slug of slugs) {
      const item = this.#items.get(slug);
      counts.observations += item?.observations ?? 0;
      counts.unknownValues += item?.unknownValues ?? 0;
    }
    return counts;
  }

  /** The folder is looked at again: a body may be damaged or gone. */
  forget(): void {
    this.#items.clear();
    this.gone.clear();
    this.compat.clear();
    this.#slugs = null;
  }
}
