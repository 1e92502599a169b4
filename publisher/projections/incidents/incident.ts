/** Incidents, and their file. Pure. */
import { INCIDENT_KINDS, type IncidentKind } from '../../../contract/bodies/incident-kinds.ts';
import type { PublicIncident, PublicIncidents } from '../../../contract/bodies/incidents.ts';
import { INCIDENTS_MAX } from '../../../contract/files/limits.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { IncidentValue } from '../../../storage/records/incidents.ts';

/** Incidents by their ids, which begin with the moment of their beginning. */
export type Incidents = ReadonlyMap<string, IncidentValue>;

export function incidentId({ kind, about, startedAt }: IncidentValue): string {
  return `${startedAt.replace(/\D/g, '')}-${kind}-${sha256Hex(about ?? '').slice(0, 8)}`;
}

/** Two incidents with the same key do not overlap. */
export function sameKey({ kind, about }: Pick<IncidentValue, 'kind' | 'about'>): string {
  return `${kind} ${about ?? ''}`;
}

export function newestFirst(incidents: Incidents): readonly (readonly [string, IncidentValue])[] {
  return [...incidents].sort(([one], [other]) => (one < other ? 1 : -1));
}

/** The body of `GET /api/v1/incidents.json`. @param since RFC 3339 */
export function incidentsText(since: string, incidents: Incidents): string {
  const data = newestFirst(incidents).map(
    ([id, value]): PublicIncident => ({ id, ...value, summary: sentenceOf(value) }),
  );
  return canonicalJson({ since, data } as unknown as Json);
}

export interface ReadIncidents {
  readonly since: string;
  readonly incidents: Incidents;
}

/** Null: the text is not one that {@link incidentsText} writes for incidents that do not overlap. */
export function readIncidents(text: string): ReadIncidents | null {
  let file: PublicIncidents;
  try {
    file = JSON.parse(text) as PublicIncidents;
    const { since } = file;
    const incidents = new Map(
      file.data.map(({ kind, about, markets, startedAt, endedAt }) => {
        const value = { kind, about, markets, startedAt, endedAt };
        return [incidentId(value), value];
      }),
    );
    const isRight =
      incidents.size <= INCIDENTS_MAX && areApart(since, incidents) && incidentsText(since, incidents) === text;
    return isRight ? { since, incidents } : null;
  } catch {
    return null;
  }
}

function areApart(since: string, incidents: Incidents): boolean {
  const begunAt = new Map<string, string>();
  return newestFirst(incidents).every(([, incident]) => {
    const { kind, startedAt, endedAt } = incident;
    const before = begunAt.get(sameKey(incident)) ?? '\uffff';
    begunAt.set(sameKey(incident), startedAt);
    const isOver = endedAt === null ? before === '\uffff' : startedAt <= endedAt && endedAt <= before;
    return INCIDENT_KINDS.includes(kind) && startedAt >= since && isOver;
  });
}

const SENTENCES: { readonly [Kind in IncidentKind]: (about: string, markets: string) => string } = {
  'publication-late': (_, markets) =>
    `Changes of ${markets} waited for more than five minutes until they were published.`,
  'market-deferred': (slug) => `The market ${slug} was not updated, because its records did not add up.`,
  'files-deferred': (name) => `Files of the kind ${name} were not updated.`,
  'source-late': (label, markets) => `The source ${label} did not publish in time: ${markets} waited for a value.`,
};

export function sentenceOf({ kind, about, markets }: IncidentValue): string {
  return SENTENCES[kind](about ?? '', markets === 1 ? '1 market' : `${markets ?? 0} markets`);
}
