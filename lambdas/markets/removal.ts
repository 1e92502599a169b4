/** What a removed market means for records and requests about it. Pure. */

import type { Removal } from '../../contract/files/removed-market.ts';
import type { IngestRecord, RowError } from '../../contract/ingest/ingest-records.ts';
import { laterInstant } from '../../contract/values/instants.ts';
import { replaced } from '../../storage/ports/changes.ts';
import type { Change, Item } from '../../storage/ports/ledger.ts';
import type { MarketRecordValue } from '../../storage/records/markets.ts';
import { marketMarkKey } from '../../storage/records/publication.ts';

/** The market's record with its removal: its last revision, and a mark. Its observations stay as they are. */
export function removedChanges(slug: string, market: Item<MarketRecordValue>, removal: Removal): readonly Change[] {
  const updatedAt = laterInstant(removal.removedAt, market.value.updatedAt);
  return [
    replaced(market, { ...market.value, removal, updatedAt }),
    { kind: 'put', key: marketMarkKey(slug), revision: market.revision + 1, value: null, if: { kind: 'any' } },
  ];
}

/** Nothing can be said of a removed market any more. */
export function removedDetail(slug: string, { replacedBy }: Removal): string {
  const instead = replacedBy === null ? 'use another slug' : `use ${replacedBy}`;
  return `the market ${slug} was removed and does not come back: ${instead}`;
}

/** The fault of every record about a removed market, its definition too. */
export function removedFault(record: IngestRecord, removal: Removal): RowError {
  const [pointer, slug] = record.type === 'market' ? ['/slug', record.slug] : ['/market', record.market];
  return { pointer, code: 'market.removed', detail: removedDetail(slug, removal) };
}
