/** Finds the incidents of one generation in the records that it has read. Alarms and the status page use the same limits. */
import type { Expectations } from '../../../contract/freshness/late-sources.ts';
import { millisecondInstant } from '../../../contract/values/instants.ts';
import type { IncidentValue } from '../../../storage/records/incidents.ts';
import { isDeferredTooLong } from '../../kernel/deferred.ts';
import type { LeftMarkets, MarketContext, MarketStep, PlanContext } from '../../kernel/projection.ts';
import { NO_PART } from '../../kernel/projection.ts';
import { sameKey } from './incident.ts';

/** An incident that begins, continues, or ends with this generation. */
export type Current = Omit<IncidentValue, 'endedAt'> & { readonly isOver: boolean };

/** How long published markets have waited for the changes that this generation publishes. */
export class Waits {
  readonly #deferred: PlanContext['deferred'];
  readonly #sinceMs: number[] = [];

  /** @param deferred markets that have waited for another reason */
  constructor(deferred: PlanContext['deferred']) {
    this.#deferred = deferred;
  }

  /** A market that is not published yet, or only rendered again, does not count: its readers have not waited. */
  market({ view: { slug, record, published, isShown }, isRefresh }: MarketContext): MarketStep | undefined {
    if (record === null || published === null || !isShown || isRefresh || this.#deferred.has(slug)) return undefined;
    if (record.revision <= published.revision) return undefined;
    let sinceMs = Number.POSITIVE_INFINITY;
    return {
      read({ revision, observation: { firstRevision = revision, recordedAt } }) {
        if (firstRevision > published.revision) sinceMs = Math.min(sinceMs, Date.parse(recordedAt));
      },
      finish: async () => ({
        ...NO_PART,
        taken: () => {
          const { updatedAt } = record.value;
          if (updatedAt !== null) this.#sinceMs.push(Math.min(sinceMs, Date.parse(updatedAt)));
        },
      }),
    };
  }

  tooLong(nowMs: number): readonly number[] {
    return this.#sinceMs.filter((sinceMs) => isDeferredTooLong({ sinceMs }, nowMs));
  }
}

interface Facts {
  readonly context: Pick<PlanContext, 'before' | 'deferred'>;
  readonly waits: Waits;
  readonly left: LeftMarkets;
  /** Null: no new list was planned. */
  readonly expectations: Expectations | null;
  readonly open: readonly IncidentValue[];
  readonly nowMs: number;
}

/** Incidents by kind and `about`. Open incidents that are missing here have ended. */
export function currentIncidents({
  context,
  waits,
  left,
  expectations,
  open,
  nowMs,
}: Facts): ReadonlyMap<string, Current> {
  const { before, deferred } = context;
  const found: Current[] = [];
  const goesOn = (incident: IncidentValue) => found.push({ ...incident, isOver: false });

  const late = waits.tooLong(nowMs);
  if (late.length > 0) {
    const startedAt = instantOf(Math.min(...late));
    found.push({ kind: 'publication-late', about: null, markets: late.length, startedAt, isOver: !left.isFreshLeft });
  } else if (left.isFreshLeft) for (const incident of open) if (incident.kind === 'publication-late') goesOn(incident);

  const isAllRead = !left.isFreshLeft && !left.isRefreshLeft;
  for (const [slug, { sinceMs }] of deferred) {
    if (!isDeferredTooLong({ sinceMs }, nowMs) || (isAllRead && !left.deferred.has(slug))) continue;
    found.push({ kind: 'market-deferred', about: slug, markets: 1, startedAt: instantOf(sinceMs), isOver: false });
  }
  for (const [name, { sinceMs }] of Object.entries(before?.deferred ?? {})) {
    if (!isDeferredTooLong({ sinceMs }, nowMs)) continue;
    found.push({ kind: 'files-deferred', about: name, markets: null, startedAt: instantOf(sinceMs), isOver: false });
  }
  if (expectations === null) for (const incident of open) if (incident.kind === 'source-late') goesOn(incident);
  for (const { label, markets, expectedNextAt } of expectations?.late(nowMs) ?? []) {
    const startedAt = millisecondInstant(expectedNextAt);
    found.push({ kind: 'source-late', about: label, markets, startedAt, isOver: false });
  }
  return new Map(found.map((incident) => [sameKey(incident), incident]));
}

function instantOf(ms: number): string {
  return new Date(ms).toISOString();
}
