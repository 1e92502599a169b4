/** A history as it is cut into pages. Types alone. */
import type { ObservationValue } from '../../storage/records/markets.ts';
import type { PublishedPage } from '../../storage/records/publication.ts';
import type { Rendered } from './rendered.ts';

/** A published closed page: its index, counted from the oldest, and its record. */
export interface IndexedPage {
  readonly index: number;
  readonly page: PublishedPage;
}

/** An observation with its place in the history, and the market's revision that wrote it. */
export interface OrderedObservation {
  readonly order: string;
  readonly revision: number;
  readonly observation: ObservationValue;
}

export interface CutPage extends IndexedPage {
  /** Whether the published page at this index has other bytes, or there is no such page. */
  readonly isNew: boolean;
  /** Whether the ledger has this record of the page already. */
  readonly isRecorded: boolean;
}

export interface HistoryPlan {
  readonly head: Rendered & { readonly nextCursor: string | null };
  /** The observations of the head, oldest first. */
  readonly newest: readonly ObservationValue[];
  /** The closed pages after the kept ones, oldest first. */
  readonly pages: readonly CutPage[];
  /** Published pages that are no longer part of the history. */
  readonly superseded: readonly IndexedPage[];
  readonly closedPages: number;
  /** The sum of the whole history, kept pages included. */
  readonly sum: string;
  /** The number of observations that were cut. */
  readonly rendered: number;
}
