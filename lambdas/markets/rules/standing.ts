/**
 * The effect of accepted claims, source verifications and new observations on the standing of a market. Pure. See
 * {@link MarketStanding}.
 */
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Source, SourceVerification } from '../../../contract/values/market.ts';
import type { Change, Item } from '../../../storage/ports/ledger.ts';
import { type MarketRecordValue, type MarketStanding, marketKey } from '../../../storage/records/markets.ts';

type Comparisons = MarketStanding['comparisons'];

export function standingOf({ standing }: Pick<MarketRecordValue, 'standing'>): MarketStanding {
  return { comparisons: {}, disputes: {}, representedBy: null, verifications: {}, ...standing };
}

/** The effect of a source verification on the market. */
export interface Verified {
  readonly id: string;
  /** The market's source that shows the verification. */
  readonly source: Source;
  /** The metrics whose latest observation, in this version, was compared with the source. */
  readonly metrics: readonly string[];
  readonly shown: SourceVerification;
}

/**
 * A source shows its latest verification by `verifiedAt`. For a metric, the latest verification that compared its latest
 * observation counts. The order of arrival does not matter.
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

/** Whether two standings have the same public effect, whichever claims and verifications they come from. */
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

/** A check that the market's record is still the one that was read. Null: that the market still has no record. */
export function unchangedMarket(slug: string, market: Pick<Item, 'revision'> | null): Change {
  const key = marketKey(slug);
  if (market === null) return { kind: 'check', key, if: { kind: 'absent' } };
  return { kind: 'check', key, if: { kind: 'revision-is', revision: market.revision } };
}

/** Changes the standing of a market's record in place, if it has one. An empty standing is removed. */
export function restate(value: MarketRecordValue, change: (standing: MarketStanding) => MarketStanding): void {
  if (value.standing === undefined) return;
  const standing = change(value.standing);
  const { representedBy, ...maps } = standing;
  if (representedBy === null && Object.values(maps).every((map) => Object.keys(map).length === 0))
    delete value.standing;
  else value.standing = standing;
}

/** The standing after a metric's latest observation was corrected or retracted. */
export function withoutDispute(standing: MarketStanding, metric: string): MarketStanding {
  const { [metric]: _, ...disputes } = standing.disputes;
  return { ...standing, disputes };
}

/** The standing after another observation became a metric's latest. */
export function withoutComparison(standing: MarketStanding, metric: string): MarketStanding {
  const { [metric]: _, ...comparisons } = standing.comparisons;
  return { ...standing, comparisons };
}

/**
 * The standing of a market whose sources are now these. Entries of other sources are dropped, because they would let the record
 * grow without bound.
 */
export function withSources(standing: MarketStanding, sources: readonly Source[]): MarketStanding {
  const urls = new Set(sources.map(({ url }) => url));
  const listed = Object.entries(standing.verifications).filter(([url]) => urls.has(url));
  return { ...standing, verifications: Object.fromEntries(listed) };
}
