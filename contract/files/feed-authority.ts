/** The records that a feed may send, by the scopes of its credential, and by the markets to which its API key is limited. */
import * as z from 'zod';
import type { IngestMode, IngestRecord, RowError } from '../ingest/ingest-records.ts';
import type { FeedScope } from '../operations/scopes.ts';
import { SLUG_MAX_LENGTH } from './limits.ts';

const KEY_MARKETS_MAX = 100;

/** The markets of an API key. */
export const marketLimitSchema = z
  .array(
    z
      .string()
      .max(SLUG_MAX_LENGTH + 1)
      .regex(/^[a-z0-9][a-z0-9-]*\*?$/, { error: 'must be a slug, or the beginning of slugs with a * at its end' }),
  )
  .min(1)
  .max(KEY_MARKETS_MAX)
  .nullable()
  .describe(
    'The only markets that the key may write to, or file, review and decide claims about: slugs, or beginnings of slugs ' +
      'with a `*` at the end, e.g. `fx-*`. Null: all markets.',
  );

export type FeedAuthority = {
  scopes: FeedScope[];
  /** See {@link marketLimitSchema}. */
  markets: string[] | null;
};

/** The first of these markets to which a key with this limit may not write; null if it may write to all. */
export function firstOutside(limit: readonly string[] | null, slugs: readonly string[]): string | null {
  return limit === null ? null : (slugs.find((slug) => !coversMarket(limit, slug)) ?? null);
}

/** Whether one of the patterns covers the slug, or covers everything that another pattern covers. */
export function coversMarket(patterns: readonly string[], slugOrPattern: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? slugOrPattern.startsWith(pattern.slice(0, -1)) : slugOrPattern === pattern,
  );
}

/** Every reason why a feed may not send the record. */
export function authorityFaults(
  { scopes, markets }: FeedAuthority,
  record: IngestRecord,
  mode: IngestMode,
): RowError[] {
  const faults: RowError[] = [];
  const needed = scopeOf(record, mode);
  if (!scopes.includes(needed)) {
    faults.push({ pointer: '', code: 'scope.missing', detail: `this record needs a credential with ${needed}` });
  }
  if (record.type === 'market' && record.outliers !== undefined && !scopes.includes('ingest:correct')) {
    // Such a rule accepts values that would each need this scope.
    const detail = 'a rule for outliers needs a credential with ingest:correct';
    faults.push({ pointer: '/outliers', code: 'scope.missing', detail });
  }
  const [field, slug] = record.type === 'market' ? ['/slug', record.slug] : ['/market', record.market];
  if (markets !== null && !coversMarket(markets, slug)) {
    const detail = 'this API key is limited to other markets: correct the name, or use the key of that market';
    faults.push({ pointer: field, code: 'market.not-allowed', detail });
  }
  return faults;
}

function scopeOf(record: IngestRecord, mode: IngestMode): FeedScope {
  if (record.type === 'market') return 'markets:write';
  if (record.type === 'retraction' || mode === 'correct' || record.outlierConfirmed) return 'ingest:correct';
  return 'ingest:write';
}
