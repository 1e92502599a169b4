/**
 * Features that a subject can be entitled to. No feature influences what is published or who may read it: public reads need
 * no entitlement.
 */

export interface FeatureDefinition {
  /**
   * - `boolean`: allowed or not; the limit is 0 or 1.
   * - `quota`: the limit counts existing resources.
   * - `rate`: the limit counts uses within a day (UTC).
   */
  readonly kind: 'boolean' | 'quota' | 'rate';
  /** The limit of a subject without a grant. */
  readonly defaultLimit: number;
  /** The highest limit that can be granted. */
  readonly maxLimit: number;
  readonly description: string;
  /** Whether each write of an operation with this feature uses one. */
  readonly eachWrite?: true;
}

/** A limit on writes of one kind: generous for people and feeds, but it bounds the damage of a stolen credential. */
const writes = (defaultLimit: number, description: string) =>
  ({ kind: 'rate', defaultLimit, maxLimit: 1_000_000, description, eachWrite: true }) as const;

export const FEATURES = {
  watchlists: { kind: 'quota', defaultLimit: 20, maxLimit: 1_000, description: 'Watchlists' },
  // Each market of a watchlist is one check in its transaction, and a transaction holds at most 100 changes.
  'watchlist-items': { kind: 'quota', defaultLimit: 50, maxLimit: 80, description: 'Markets on one watchlist' },
  'watchlist-writes-per-day': writes(5_000, 'Changes of watchlists in a day'),
  claims: { kind: 'boolean', defaultLimit: 1, maxLimit: 1, description: 'Filing claims at all' },
  'claims-per-day': { ...writes(20, 'Claims filed in a day'), maxLimit: 10_000 },
  'claim-changes-per-day': writes(2_000, 'Evidence, withdrawals, reviews and decisions of claims in a day'),
  'source-verifications-per-day': writes(10_000, 'Comparisons with sources recorded in a day'),
  // A removal cannot be undone, so a stolen key must not remove many markets.
  'market-removals-per-day': writes(100, 'Markets removed in a day'),
  'publications-per-day': writes(1_000, 'Publications asked for in a day'),
  'ingest-batches-per-day': writes(100_000, 'Batches sent in a day, dry runs too'),
  'ingest-uploads-per-day': writes(1_000, 'Large files announced in a day'),
  'ingest-rows-per-day': {
    kind: 'rate',
    defaultLimit: 1_000_000,
    maxLimit: 1_000_000_000,
    description: 'Records sent for ingest in a day, in dry runs too',
  },
  // Bodies are stored unchanged.
  'ingest-bytes-per-day': {
    kind: 'rate',
    defaultLimit: 2 ** 30,
    maxLimit: 2 ** 40,
    description: 'Bytes sent for ingest in a day, in dry runs too',
  },
  'api-keys': { kind: 'quota', defaultLimit: 2, maxLimit: 50, description: 'API keys that are not revoked' },
} as const satisfies Record<string, FeatureDefinition>;

export type Feature = keyof typeof FEATURES;

export const ALL_FEATURES = Object.keys(FEATURES) as readonly Feature[];
