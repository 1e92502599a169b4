/** Builds the record of a market from its standing entries in the log. Pure. */

import {
  LOG_FORMAT,
  type LogEntry,
  type MarketEntry,
  type RemovalEntry,
  type SourceEntry,
  type StandingEntry,
} from '../../../contract/log/entries.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { laterInstant } from '../../../contract/values/instants.ts';
import type { Source } from '../../../contract/values/market.ts';
import { type MarketRecordValue, observationKey } from '../../../storage/records/markets.ts';
import type { OrderedObservation } from '../../kernel/market-view.ts';
import { type Recount, recountOf } from '../../repair/recount.ts';
import { publicStanding } from '../bodies/render.ts';

/** The standing entries of a market, except its observations. */
export interface MarketFacts {
  market: MarketEntry | null;
  readonly sources: Map<number, SourceEntry>;
  standing: StandingEntry | null;
  removal: RemovalEntry | null;
  revision: number;
}

/** An entry about one market. */
export type MarketFact = Exclude<LogEntry, { readonly type: 'key' | 'reset' | 'service' | 'takedown' }>;

export function noFacts(): MarketFacts {
  return { market: null, sources: new Map(), standing: null, removal: null, revision: 0 };
}

/** Adds an entry. Of an observation, only the revision counts here: see {@link recordOf}. */
export function addFact(facts: MarketFacts, entry: MarketFact): void {
  facts.revision = Math.max(facts.revision, entry.revision);
  if (entry.type === 'market') facts.market = entry;
  else if (entry.type === 'source') facts.sources.set(entry.position, entry);
  else if (entry.type === 'standing') facts.standing = entry;
  else if (entry.type === 'removal') facts.removal = entry;
}

/** The public name of a representative, and the salt of its digest. Both are in the market's body. */
export interface PublicRepresentative {
  readonly name: string;
  readonly salt: string | null;
}

export interface FoldedMarket {
  readonly revision: number;
  /** Oldest first, superseded versions included. */
  readonly observations: readonly OrderedObservation[];
  /** Null: not represented. The digest is null for a name that was public before the log began. */
  readonly representedBy: { readonly digest: string | null } | null;
  /** The record, with this name of the representative: the log has only its digest. */
  readonly record: (representative: PublicRepresentative | null) => MarketRecordValue;
}

/** @throws LogFaultError if the definition of the market, or one of its sources, has no entry */
export function recordOf(
  slug: string,
  { market, sources, standing, revision }: MarketFacts,
  observations: readonly OrderedObservation[],
): FoldedMarket {
  if (market === null) throw new LogFaultError(`no entry defines ${slug}`);
  const { name, kind, status, nativeCurrency, unit, sourceCount } = market;
  const standingSources = Array.from({ length: sourceCount }, (_, position) => {
    const source = sources.get(position);
    if (source === undefined) throw new LogFaultError(`no entry states source ${position} of ${slug}`);
    return source;
  });
  const stored = observations.map(({ order, observation, revision: written }) => {
    return { sort: observationKey(slug, order).sort, value: observation, revision: written };
  });
  const { updatedAt } = observations.reduce<{ readonly updatedAt: string | null }>(
    (latest, { observation }) => ({ updatedAt: laterInstant(observation.recordedAt, latest.updatedAt) }),
    market,
  );
  const disputedMetrics = standing?.disputedMetrics ?? [];
  let known: Recount | null = null;
  const recount = () => {
    known ??= recountOf(stored);
    return known;
  };
  return {
    revision,
    observations,
    representedBy: standing?.representedBy ?? null,
    record: (representative) => ({
      ...{ name, kind, status, nativeCurrency, unit, updatedAt },
      ...recount(),
      ...secondFormatOf(market),
      sources: standingSources.map(sourcePart),
      standing: publicStanding(representative, disputedMetrics, standingSources),
    }),
  };
}

/** Fields that a definition in the first format lacks. */
function secondFormatOf(market: MarketEntry): Pick<MarketRecordValue, 'attributes' | 'outliers' | 'outliersReason'> {
  if (market.format === LOG_FORMAT) return {};
  const { attributes, outliers, outliersReason = null } = market;
  return {
    ...(attributes && { attributes }),
    ...(outliers && { outliers }),
    ...(outliersReason !== null && { outliersReason }),
  };
}

function sourcePart({ label, url, publisher, licence, attribution, cadence }: SourceEntry): Source {
  return { label, url, publisher, licence, attribution, cadence };
}
