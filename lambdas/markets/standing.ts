/** How accepted claims, source verifications and new observations change what is said of a market. Pure. See {@link MarketStanding}. */
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import type { Source, SourceVerification } from '../../contract/market.ts';
import { replaced } from '../../storage/changes.ts';
import type { Change, Item } from '../../storage/ledger.ts';
import { type MarketRecordValue, type MarketStanding, marketKey } from '../../storage/records/markets.ts';
import { marketMarkKey } from '../../storage/records/publication.ts';

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
export function isSameStanding(left: MarketStanding, right: MarketStanding): boolean {
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
    { kind: 'put', key: marketMarkKey(slug), revision: market.revision + 1, value: null, if: { kind: 'any' } },
  ];
}

/** The market as it is: what was decided on it must still be so at the moment of commit. */
export function unchangedMarket(slug: string, { revision }: Item): Change {
  return { kind: 'check', key: marketKey(slug), if: { kind: 'revision-is', revision } };
}

/** The standing that is left: undefined when it says nothing. */
type StandingLeft = MarketStanding | undefined;

/** Changes the standing of a market's record in place, if it has one. */
export function restate(value: MarketRecordValue, change: (standing: MarketStanding) => StandingLeft): void {
  if (value.standing === undefined) return;
  const standing = change(value.standing);
  if (standing === undefined) delete value.standing;
  else value.standing = standing;
}

/** The standing once a metric's latest observation has been corrected or retracted. */
export function withoutDispute(standing: MarketStanding, metric: string): StandingLeft {
  const { [metric]: _, ...disputes } = standing.disputes;
  return unlessEmpty({ ...standing, disputes });
}

/** The standing once another observation is a metric's latest. */
export function withoutComparison(standing: MarketStanding, metric: string): StandingLeft {
  const { [metric]: _, ...comparisons } = standing.comparisons;
  return unlessEmpty({ ...standing, comparisons });
}

/** The standing of a market that lists these sources from now on: others would add up to more than a record can hold. */
export function withSources(standing: MarketStanding, sources: readonly Source[]): StandingLeft {
  const urls = new Set(sources.map(({ url }) => url));
  const listed = Object.entries(standing.verifications).filter(([url]) => urls.has(url));
  return unlessEmpty({ ...standing, verifications: Object.fromEntries(listed) });
}

function unlessEmpty(standing: MarketStanding): StandingLeft {
  const { representedBy, ...maps } = standing;
  const isEmpty = representedBy === null && Object.values(maps).every((map) => Object.keys(map).length === 0);
  return isEmpty ? undefined : standing;
}
