/**
 * Plans the incidents of one generation. They are one record of the ledger. While no incident begins or ends, nothing is
 * read or written: HEAD names the open ones.
 */

import { INCIDENTS_MAX, LIST_FILE_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { Expectations } from '../../../contract/freshness/late-sources.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import { laterInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import { INCIDENTS_KEY, type IncidentValue } from '../../../storage/records/incidents.ts';
import { addFileIfChanged } from '../../kernel/files/add-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { NO_ORIGIN } from '../../kernel/text/atom.ts';
import { type Current, currentIncidents, Waits } from './current-incidents.ts';
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
  const waits = new Waits(context.deferred);
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
