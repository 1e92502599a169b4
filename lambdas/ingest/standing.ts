/** What claims and source verifications say of a market, as far as ingesting changes it. */
import type { MarketStanding } from '../../storage/records.ts';

/** The standing once a metric's disputed observation has been superseded; undefined when nothing is left to say. */
export function withoutDispute(standing: MarketStanding, metric: string): MarketStanding | undefined {
  const { [metric]: _, ...disputes } = standing.disputes;
  const { representedBy, verifications } = standing;
  const isEmpty =
    representedBy === null && Object.keys(disputes).length === 0 && Object.keys(verifications).length === 0;
  return isEmpty ? undefined : { ...standing, disputes };
}
