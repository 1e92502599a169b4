/** The effect of a removed market on records and requests about it. Pure. */

import type { Removal } from '../../contract/files/removed-market.ts';
import type { IngestRecord, RowError } from '../../contract/ingest/ingest-records.ts';

/** The detail of a refusal: nothing about a removed market can change any more. */
export function removedDetail(slug: string, { replacedBy }: Removal): string {
  const instead = replacedBy === null ? 'use another slug' : `use ${replacedBy}`;
  return `the market ${slug} was removed and does not come back: ${instead}`;
}

/** The fault of every record about a removed market, even of a definition. */
export function removedFault(record: IngestRecord, removal: Removal): RowError {
  const [pointer, slug] = record.type === 'market' ? ['/slug', record.slug] : ['/market', record.market];
  return { pointer, code: 'market.removed', detail: removedDetail(slug, removal) };
}
