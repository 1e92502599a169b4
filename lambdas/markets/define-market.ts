/** Decides the effect of a definition on a market. Pure. */
import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import { type RowOutcome, refused } from './market-decision.ts';
import { definitionOf, newMarketValue } from './observation-value.ts';
import { isTooLarge, TOO_LARGE } from './record-size.ts';
import { restate, withSources } from './rules/standing.ts';

export interface DefinedMarket {
  /** Null: the definition of a new market is refused. */
  readonly value: MarketRecordValue | null;
  readonly outcome: RowOutcome;
}

/** @param value the market, which is changed in place. Null: it is new */
export function defineMarket(value: MarketRecordValue | null, record: MarketRecord): DefinedMarket {
  if (value === null) {
    const added = newMarketValue(record);
    if (isTooLarge(added)) return { value, outcome: TOO_LARGE };
    return { value: added, outcome: { kind: 'accepted', counts: 'newMarkets' } };
  }
  const definition = definitionOf(record, value);
  if (canonicalJson(definitionOf(value, value)) === canonicalJson(definition))
    return { value, outcome: { kind: 'unchanged' } };
  if (value.observations > 0) {
    const detail = 'is fixed once a market has observations: use a new slug';
    const fixed = (pointer: string) => ({ value, outcome: refused('conflict.existing', pointer, detail) });
    if (value.nativeCurrency !== definition.nativeCurrency) return fixed('/nativeCurrency');
    if (canonicalJson(value.unit) !== canonicalJson(definition.unit)) return fixed('/unit');
  }
  if (isTooLarge({ ...value, ...definition })) return { value, outcome: TOO_LARGE };
  for (const own of ['attributes', 'outliers', 'outliersReason'] as const) delete value[own];
  Object.assign(value, definition);
  restate(value, (standing) => withSources(standing, definition.sources));
  return { value, outcome: { kind: 'accepted', counts: 'changedMarkets' } };
}
