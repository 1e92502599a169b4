/** How accepted claims and source verifications change what is said of a market. Pure. */
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import type { Source, SourceVerification } from '../../contract/market.ts';
import { replaced } from '../../storage/changes.ts';
import type { Change, Item } from '../../storage/ledger.ts';
import { dirtyMarketKey, type MarketRecordValue, type MarketStanding, marketKey } from '../../storage/records.ts';

type Comparisons = MarketStanding['comparisons'];

/** What is said of a market so far. */
export function standingOf({ standing }: Pick<MarketRecordValue, 'standing'>): MarketStanding {
  return { comparisons: {}, disputes: {}, representedBy: null, verifications: {}, ...standing };
}

/** A metric of the market is disputed by an accepted claim. */
export function disputedByClaim(standing: MarketStanding, metric: string, claim: string): MarketStanding {
  return { ...standing, disputes: { ...standing.disputes, [metric]: claim } };
}

/** A source verification, as far as it says something of the market. */
export interface Verified {
  readonly id: string;
  /** The market's source on which it shows. */
  readonly source: Source;
  /** The metrics whose latest observations it is about, each as the version that it compared. */
  readonly metrics: readonly string[];
  readonly shown: SourceVerification;
}

/**
 * The latest by `verifiedAt` shows on the source, and the latest that compared a metric's latest observation counts for
 * the metric, whatever the order of arrival.
 */
export function verified(standing: MarketStanding, { id, source, metrics, shown }: Verified): MarketStanding {
  const verifications = isOlder(shown, standing.verifications[source.url])
    ? standing.verifications
    : { ...standing.verifications, [source.url]: shown };
  const { outcome, verifiedAt } = shown;
  if (outcome !== 'mismatch' && outcome !== 'confirmed') return { ...standing, verifications };
  const comparisons: Comparisons = { ...standing.comparisons };
  for (const metric of metrics) {
    if (!isOlder(shown, comparisons[metric])) comparisons[metric] = { outcome, verifiedAt, verification: id };
  }
  return { ...standing, comparisons, verifications };
}

type Dated = Pick<SourceVerification, 'verifiedAt'>;

function isOlder(one: Dated, other: Dated | undefined): boolean {
  return other !== undefined && Date.parse(one.verifiedAt) < Date.parse(other.verifiedAt);
}

/** Whether two standings of a market say the same, whichever claims and verifications have said so. */
export function saysTheSame(left: MarketStanding, right: MarketStanding): boolean {
  return canonicalJson(withoutIds(left)) === canonicalJson(withoutIds(right));
}

function withoutIds({ comparisons, disputes, representedBy, verifications }: MarketStanding): Json {
  const compared = Object.entries(comparisons).map(([metric, { outcome, verifiedAt }]) => {
    return [metric, outcome, verifiedAt].join(' ');
  });
  const disputed = Object.keys(disputes).sort();
  return { compared: compared.sort(), disputed, representedBy: representedBy?.name ?? null, verifications };
}

/** The market with another standing: one revision up, and due for publication. */
export function withStanding(slug: string, market: Item, standing: MarketStanding): readonly Change[] {
  const value: MarketRecordValue = { ...(market.value as MarketRecordValue), standing };
  return [
    replaced(market, value),
    { kind: 'put', key: dirtyMarketKey(slug), revision: 0, value: null, if: { kind: 'any' } },
  ];
}

/** The market as it is: what was decided on it must still be so at the moment of commit. */
export function unchangedMarket(slug: string, { revision }: Item): Change {
  return { kind: 'check', key: marketKey(slug), if: { kind: 'revision-is', revision } };
}
