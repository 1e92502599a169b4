/** The changes of a decision besides observations: the market's record, and the items that lead to it. Pure. */
import { laterInstant } from '../../contract/values/instants.ts';
import { dropped, put, replaced } from '../../storage/ports/changes.ts';
import type { Change, Item, PutChange } from '../../storage/ports/ledger.ts';
import { nextEffectiveAt } from '../../storage/records/announced-values.ts';
import {
  announcedMarketKey,
  type MarketRecordValue,
  marketIndexKey,
  marketKey,
} from '../../storage/records/markets.ts';
import { historyMarkKey, marketMarkKey } from '../../storage/records/publication.ts';

/** The market's record, its entry in the index, and two marks. */
export const MARKET_CHANGES = 4;
/** The deletion and the put of the item for the market's next announced value. */
export const ANNOUNCED_CHANGES = 2;

export interface ChangedMarket {
  /** The record's revision before; null: the market is new. */
  readonly before: number | null;
  readonly revision: number;
  readonly value: MarketRecordValue;
  /** The first place of the history that was changed and may lie on a closed page; null: none. */
  readonly rewrittenFrom: string | null;
  /** The effective time of the next announced value in the record before; null: there was none. */
  readonly effectiveAtBefore: string | null;
}

/** The record comes first. All others have its revision, so that readers can recognise which items belong together. */
export function marketChanges(
  slug: string,
  { before, revision, value, rewrittenFrom, effectiveAtBefore }: ChangedMarket,
): readonly [PutChange<MarketRecordValue>, ...Change[]] {
  const changes: Change[] = [put(marketMarkKey(slug), revision, null)];
  if (rewrittenFrom !== null) changes.push(put(historyMarkKey(slug, rewrittenFrom), revision, null));
  if (before === null) changes.push(put(marketIndexKey(slug), revision, null));
  const effectiveAt = nextEffectiveAt(value);
  if (effectiveAt !== effectiveAtBefore) {
    if (effectiveAtBefore !== null) changes.push(dropped(announcedMarketKey(effectiveAtBefore, slug)));
    if (effectiveAt !== null) changes.push(put(announcedMarketKey(effectiveAt, slug), revision, null));
  }
  const condition = before === null ? { kind: 'absent' as const } : { kind: 'revision-is' as const, revision: before };
  return [{ kind: 'put', key: marketKey(slug), revision, value, if: condition }, ...changes];
}

/**
 * Changes fields of the market other than those of its observations: its next revision, and a mark.
 *
 * @param at the current time, RFC 3339
 */
export function changedMarket(
  slug: string,
  market: Item<MarketRecordValue>,
  changed: Partial<Pick<MarketRecordValue, 'removal' | 'standing'>>,
  at: string,
): readonly Change[] {
  const updatedAt = laterInstant(at, market.value.updatedAt);
  const mark = put(marketMarkKey(slug), market.revision + 1, null);
  return [replaced(market, { ...market.value, ...changed, updatedAt }), mark];
}
