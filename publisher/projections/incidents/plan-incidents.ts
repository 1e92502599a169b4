/**
 * Plans the incidents of one generation. They are one record of the ledger. While no incident begins or ends, nothing is
 * read or written: HEAD names the open ones.
 */
import { INCIDENTS_MAX, LIST_FILE_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { Expectations } from '../../../contract/freshness/late-sources.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import { laterInstant, millisecondInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import { INCIDENTS_KEY, type IncidentValue } from '../../../storage/records/incidents.ts';
import { isDeferredTooLong } from '../../kernel/deferred.ts';
import { addFileIfChanged } from '../../kernel/files/add-file.ts';
import {
  type LeftMarkets,
  type MarketContext,
  type MarketStep,
  NO_PART,
  type PlanContext,
  type ProjectionPlan,
} from '../../kernel/projection.ts';
import { NO_ORIGIN } from '../../kernel/text/atom.ts';
import { incidentsFeed } from './feed.ts';
import { type Incidents, incidentId, incidentsText, newestFirst, readIncidents, sameKey } from './incident.ts';

/** The most open incidents. HEAD names them, so their number is small. Others are recorded when one of these has ended. */
const OPEN_MAX = 20;

/** `file`, `feed`: SHA-256. `open`: the open incidents, by id. */
interface IncidentsState {
  /** RFC 3339. Earlier incidents are not recorded. */
  since: string;
  origin: string;
  file: string;
  feed: string;
  open: { [id: string]: IncidentValue };
  /** When the next source becomes late unless it publishes, in milliseconds since the epoch. Null: no source. Absent: unknown. */
  sourceLateMs?: number | null;
}

export async function planIncidents(context: PlanContext): Promise<ProjectionPlan> {
  const { dependencies, before, isBehind, files } = context;
  const { log, nowMs } = dependencies;
  const known = context.state as unknown as IncidentsState | undefined;
  const origin = log?.origin ?? NO_ORIGIN;
  const waits = waitsOf(context.deferred);
  let expectations: Expectations | null = null;

  const isLookedFor =
    known === undefined || known.sourceLateMs === undefined || (known.sourceLateMs ?? nowMs() + 1) <= nowMs();
  return {
    needsList: (isBehind || isLookedFor) && (before?.list.markets ?? 0) <= LIST_FILE_MARKETS_MAX,
    ofPage: (markets) => (markets <= LIST_FILE_MARKETS_MAX ? expectationsOfPage : null),
    async list({ entries }) {
      expectations = new Expectations();
      for (const some of entries as readonly Expectations[]) expectations.addAll(some);
    },
    market: async (market) => waits.market(market),
    async finish(left) {
      const atMs = nowMs();
      const now = new Date(atMs).toISOString();
      let stored = known === undefined ? await readStored(context) : null;
      const since = known?.since ?? stored?.since ?? now;
      const open = known?.open ?? openOf(stored?.incidents ?? new Map());
      const current = currentIncidents({ context, waits, left, expectations, open: Object.values(open), nowMs: atMs });
      const changes = changesOf(current, open, since, now);
      const sourceLateMs =
        expectations === null ? known?.sourceLateMs : (expectations as Expectations).nextLateMs(atMs);
      const lateness = sourceLateMs === undefined ? {} : { sourceLateMs };
      const isCurrent = expectations !== null || !isBehind;
      if (known !== undefined && changes.length === 0 && known.origin === origin) {
        return { state: { ...known, ...lateness } as unknown as Json, isCurrent };
      }
      stored ??= await readStored(context);
      const incidents = withChanges(stored.incidents, changes);
      const state: IncidentsState = {
        since,
        origin,
        file: await addFileIfChanged(context, { kind: 'incidents' }, incidentsText(since, incidents), known?.file),
        feed: await addFileIfChanged(
          context,
          { kind: 'incidents-feed' },
          incidentsFeed(origin, since, incidents),
          known?.feed,
        ),
        open: openOf(incidents),
        ...lateness,
      };
      const value = { since, incidents: Object.fromEntries(incidents) };
      await files.add({ kind: 'record', key: INCIDENTS_KEY, value });
      return { state: state as unknown as Json, isCurrent };
    },
  };
}

function expectationsOfPage(body: string): readonly Expectations[] {
  return [new Expectations((JSON.parse(body) as { readonly data: readonly Market[] }).data)];
}

function openOf(incidents: Incidents): IncidentsState['open'] {
  return Object.fromEntries([...incidents].filter(([, { endedAt }]) => endedAt === null));
}

/** The incidents that end now, then those that begin. */
function changesOf(
  current: ReadonlyMap<string, Current>,
  open: IncidentsState['open'],
  since: string,
  now: string,
): readonly IncidentValue[] {
  const known = new Set(Object.values(open).map(sameKey));
  // The clock may have been set back, so the end is not before the beginning.
  const over = Object.values(open)
    .filter((incident) => current.get(sameKey(incident))?.isOver !== false)
    .map((incident) => ({ ...incident, endedAt: laterInstant(now, incident.startedAt) }));
  const begun = [...current]
    .filter(([key, { startedAt }]) => !known.has(key) && startedAt >= since)
    .map(([, { isOver, ...incident }]) => ({ ...incident, endedAt: isOver ? now : null }));
  return [...over, ...begun.slice(0, OPEN_MAX - known.size)];
}

/** The newest incidents. If one begins before the previous one with its key has ended, its beginning moves to that end. */
function withChanges(before: Incidents, changes: readonly IncidentValue[]): Incidents {
  const incidents = new Map(before);
  const overAt = new Map<string, string>();
  for (const incident of before.values()) {
    if (incident.endedAt !== null) overAt.set(sameKey(incident), incident.endedAt);
  }
  for (const change of changes) {
    const id = incidentId(change);
    if (before.has(id)) {
      if (before.get(id)?.endedAt === null) incidents.set(id, change);
      continue;
    }
    const startedAt = laterInstant(change.startedAt, overAt.get(sameKey(change)) ?? null);
    const incident = { ...change, startedAt };
    if (incident.endedAt === null || startedAt < incident.endedAt) incidents.set(incidentId(incident), incident);
  }
  return new Map(newestFirst(incidents).slice(0, INCIDENTS_MAX).reverse());
}

interface Stored {
  /** Null: neither the ledger nor the published file has it. */
  readonly since: string | null;
  /** Oldest first. */
  readonly incidents: Incidents;
}

/**
 * The record. If it is missing or the published state is unknown, also the published incidents that it lacks: the ledger was
 * restored, or begun from the log, which has no incidents.
 */
async function readStored({ dependencies: { ledger, objects }, state }: PlanContext): Promise<Stored> {
  const record = (await ledger.get(INCIDENTS_KEY))?.value;
  const found =
    state === undefined || record === undefined ? await objects.get(publicKey({ kind: 'incidents' })) : null;
  const published = found?.kind === 'found' ? readIncidents(Buffer.from(found.body).toString('utf8')) : null;
  const incidents = new Map(Object.entries(record?.incidents ?? {}));
  for (const [id, incident] of published?.incidents ?? []) {
    if ((incidents.get(id)?.endedAt ?? null) === null) incidents.set(id, incident);
  }
  return {
    since: record?.since ?? published?.since ?? null,
    incidents: new Map(newestFirst(incidents).toReversed()),
  };
}

/** An incident that begins, continues, or ends with this generation. */
type Current = Omit<IncidentValue, 'endedAt'> & { readonly isOver: boolean };

/**
 * How long published markets have waited for the changes that this generation publishes.
 *
 * @param deferred markets that have waited for another reason
 */
function waitsOf(deferred: PlanContext['deferred']) {
  const since: number[] = [];
  return {
    /** A market that is not published yet, or only rendered again, does not count: its readers have not waited. */
    market({ view: { slug, record, published, isShown, isRefresh } }: MarketContext): MarketStep | undefined {
      if (record === null || published === null || !isShown || isRefresh || deferred.has(slug)) return undefined;
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
            if (updatedAt !== null) since.push(Math.min(sinceMs, Date.parse(updatedAt)));
          },
        }),
      };
    },

    tooLong: (nowMs: number): readonly number[] => since.filter((sinceMs) => isDeferredTooLong({ sinceMs }, nowMs)),
  };
}

interface Facts {
  readonly context: Pick<PlanContext, 'before' | 'deferred'>;
  readonly waits: ReturnType<typeof waitsOf>;
  readonly left: LeftMarkets;
  /** Null: no new list was planned. */
  readonly expectations: Expectations | null;
  readonly open: readonly IncidentValue[];
  readonly nowMs: number;
}

/** Incidents by kind and `about`. Open incidents that are missing here have ended. */
function currentIncidents({ context, waits, left, expectations, open, nowMs }: Facts): ReadonlyMap<string, Current> {
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
