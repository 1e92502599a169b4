/** What claims and source verifications say of a market, as far as ingesting changes it. See {@link MarketStanding}. */
import type { Source } from '../../contract/market.ts';
import type { MarketRecordValue, MarketStanding } from '../../storage/records.ts';

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
