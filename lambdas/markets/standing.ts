/** How accepted claims and source verifications change what is said of a market. Pure. */
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import type { Source, SourceVerification } from '../../contract/market.ts';
import type { Change, Item } from '../../storage/ledger.ts';
import { dirtyMarketKey, type MarketRecordValue, type MarketStanding, marketKey } from '../../storage/records.ts';

type Disputes = MarketStanding['disputes'];

/** What is said of a market so far. */
export function standingOf({ standing }: Pick<MarketRecordValue, 'standing'>): MarketStanding {
  return standing ?? { disputes: {}, representedBy: null, verifications: {} };
}

/** A metric of the market is disputed by an accepted claim; one that a source disputes stays so too. */
export function disputedByClaim(standing: MarketStanding, metric: string, claim: string): MarketStanding {
  return {
    ...standing,
    disputes: changedDisputes(standing.disputes, [metric], (before) => ({ claim, verification: before.verification })),
  };
}

/** A source verification, as far as it says something of the market. */
export interface Verified {
  readonly id: string;
  /** The market's source on which it shows. */
  readonly source: Source;
  /** The metrics whose latest observations it is about. */
  readonly metrics: readonly string[];
  readonly shown: SourceVerification;
}

/**
 * The latest by `verifiedAt` shows on the source, whatever the order of arrival: an older one changes nothing. A mismatch
 * disputes its metrics; a confirmation takes back what mismatches have said of them, and leaves what claims have.
 */
export function verified(standing: MarketStanding, { id, source, metrics, shown }: Verified): MarketStanding {
  const before = standing.verifications[source.url];
  if (before !== undefined && Date.parse(shown.verifiedAt) < Date.parse(before.verifiedAt)) return standing;
  const verifications = { ...standing.verifications, [source.url]: shown };
  if (shown.outcome !== 'mismatch' && shown.outcome !== 'confirmed') return { ...standing, verifications };
  const verification = shown.outcome === 'mismatch' ? id : null;
  const disputes = changedDisputes(standing.disputes, metrics, ({ claim }) => ({ claim, verification }));
  return { ...standing, disputes, verifications };
}

/** Entries, not members: a metric may be named like something that every object inherits. */
function changedDisputes(
  disputes: Disputes,
  metrics: readonly string[],
  change: (before: Disputes[string]) => Disputes[string],
): Disputes {
  const all = new Map(Object.entries(disputes));
  for (const metric of metrics) {
    const after = change(all.get(metric) ?? { claim: null, verification: null });
    if (after.claim === null && after.verification === null) all.delete(metric);
    else all.set(metric, after);
  }
  return Object.fromEntries(all);
}

/** Whether two standings of a market look the same in public. */
export function isShownAlike(left: MarketStanding, right: MarketStanding): boolean {
  return canonicalJson(publicPart(left)) === canonicalJson(publicPart(right));
}

function publicPart({ disputes, representedBy, verifications }: MarketStanding): Json {
  return { disputed: Object.keys(disputes).sort(), representedBy: representedBy?.name ?? null, verifications };
}

/** The market with another standing: one revision up, and due for publication. */
export function withStanding(slug: string, market: Item, standing: MarketStanding): readonly Change[] {
  const { revision } = market;
  const value: MarketRecordValue = { ...(market.value as MarketRecordValue), standing };
  return [
    { kind: 'put', key: marketKey(slug), revision: revision + 1, value, if: { kind: 'revision-is', revision } },
    { kind: 'put', key: dirtyMarketKey(slug), revision: 0, value: null, if: { kind: 'any' } },
  ];
}

/** The market as it is: what was decided on it must still be so at the moment of commit. */
export function unchangedMarket(slug: string, { revision }: Item): Change {
  return { kind: 'check', key: marketKey(slug), if: { kind: 'revision-is', revision } };
}
