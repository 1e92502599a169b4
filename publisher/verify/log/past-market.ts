/**
 * One market at its earlier revisions, by the log. Lists, the files beside them and files for other programs are published
 * less often than markets, so they may show an earlier revision. Rendered again at that revision, they must be the same,
 * and the log's next revision must not be too old. Pure.
 */

import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import type { LogFold, PlacedEntry } from '../../core/log/fold.ts';
import { foldObservations } from '../../core/log/fold-observations.ts';
import type { FoldedMarket, MarketFact } from '../../core/log/folded-market.ts';
import { addFact, noFacts, recordOf } from '../../core/log/folded-market.ts';
import { type ShownMarket, shownByLog } from '../shown-market.ts';

/** Clocks differ, and a publication takes time, above all after a large upload. */
export const SLACK_MS = 60 * 60 * 1000;
/** Exports and files for other programs are made once a day. */
export const DAILY_MS = 2 * 24 * 60 * 60 * 1000 + SLACK_MS;

/** How long a file that is published later than its market may show an earlier revision. */
export interface Lateness {
  /** Milliseconds since the epoch. Null: nothing is ever late. */
  readonly nowMs: number | null;
  readonly mostMs: number;
}

export class PastMarket {
  readonly slug: string;
  readonly #fold: LogFold;
  readonly #size: number;
  #spans: readonly (readonly PlacedEntry[])[] | null = null;

  /** @param size the size of the log; later entries do not count */
  constructor(fold: LogFold, slug: string, size: number) {
    this.#fold = fold;
    this.#size = size;
    this.slug = slug;
  }

  /** The market at this revision; several if the log has stated it again since then. Empty: the log has no such revision. */
  at(revision: number): readonly ShownMarket[] {
    return this.foldedAt(revision).map((folded) => shownByLog(this.slug, folded));
  }

  /** The market after all entries up to this revision, even if none has exactly this one. Null: it was not shown. */
  upTo(revision: number): ShownMarket | null {
    const folded = foldedUpTo(this.slug, this.#read().at(-1) ?? [], revision);
    return folded && shownByLog(this.slug, folded);
  }

  foldedAt(revision: number): readonly FoldedMarket[] {
    const found: FoldedMarket[] = [];
    for (const span of this.#read().toReversed()) {
      const folded = foldedUpTo(this.slug, span, revision);
      if (folded?.revision === revision) found.push(folded);
    }
    return found;
  }

  /** The market before its removal. Null: the log no longer states it, or it was never shown. */
  lastShown(): FoldedMarket | null {
    const standing = (this.#read().at(-1) ?? []).filter(({ entry }) => entry.type !== 'removal');
    return foldedUpTo(this.slug, standing, Number.POSITIVE_INFINITY);
  }

  /** Whether `isShown` holds for a revision that may still be shown. */
  wasShown(lateness: Lateness, isShown: (market: ShownMarket) => boolean): boolean {
    const standing = this.#read().at(-1) ?? [];
    const newestFirst = [...new Set(standing.map(({ entry }) => entry.revision))].sort((one, other) => other - one);
    for (const revision of newestFirst) {
      if (this.isLate(revision, null, lateness)) return false;
      if (this.at(revision).some(isShown)) return true;
    }
    return false;
  }

  /**
   * Whether a file that still shows this revision is late: the log has a later one that was recorded too long ago.
   *
   * @param updatedAt of the market at that revision. A later entry that was recorded at this moment or before it states
   *   nothing new
   */
  isLate(revision: number, updatedAt: string | null, { nowMs, mostMs }: Lateness): boolean {
    if (nowMs === null) return false;
    const standing = this.#read().at(-1) ?? [];
    let knownMs = updatedAt === null ? Number.NEGATIVE_INFINITY : Date.parse(updatedAt);
    for (const { entry } of standing) if (entry.revision <= revision) knownMs = Math.max(knownMs, recordedMs(entry));
    return standing.some(({ entry }) => {
      const atMs = recordedMs(entry);
      return entry.revision > revision && atMs > knownMs && nowMs - atMs > mostMs;
    });
  }

  /** Whether the market has been in the log for too long to be missing. */
  isLateIfMissing(lateness: Lateness): boolean {
    return this.isLate(-1, null, lateness);
  }

  /** Whether one of the observations from this index of the log on was recorded too long ago to be missing. */
  isLateFrom(index: number, { nowMs, mostMs }: Lateness): boolean {
    if (nowMs === null) return false;
    const stated = new Set<string>();
    return this.#read().some((span) =>
      span.some(({ index: at, entry }) => {
        if (entry.type !== 'observation' || stated.has(entry.id)) return false;
        stated.add(entry.id);
        return at >= index && nowMs - recordedMs(entry) > mostMs;
      }),
    );
  }

  #read(): readonly (readonly PlacedEntry[])[] {
    this.#spans ??= this.#fold.spansOf(this.slug, this.#size);
    return this.#spans;
  }
}

/**
 * The market by its entries up to this revision. Null if they do not define it, say that it was removed, or contradict each
 * other.
 */
function foldedUpTo(slug: string, span: readonly PlacedEntry[], revision: number): FoldedMarket | null {
  const entries = span.filter(({ entry }) => entry.revision <= revision);
  const facts = noFacts();
  for (const { entry } of entries) addFact(facts, entry);
  if (facts.market === null || facts.removal !== null) return null;
  const observations = entries.flatMap(({ entry }) => (entry.type === 'observation' ? [entry] : []));
  try {
    return recordOf(slug, facts, foldObservations(slug, observations));
  } catch (error) {
    // Another check of the same log reports contradicting entries.
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}

/** The time of recording that an entry states; minus infinity if it states none. */
function recordedMs(entry: MarketFact): number {
  if (entry.type === 'observation') return Date.parse(entry.recordedAt);
  if (entry.type === 'removal') return Date.parse(entry.removedAt);
  return entry.type === 'market' && entry.updatedAt !== null ? Date.parse(entry.updatedAt) : Number.NEGATIVE_INFINITY;
}
