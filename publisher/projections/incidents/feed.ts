/** The feed of incidents. It depends only on their file and on the name of the service. Pure. */
import type { IncidentValue } from '../../../storage/records/incidents.ts';
import { atomFeed, uuidOf } from '../../kernel/text/atom.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';
import { type Incidents, newestFirst, sentenceOf } from './incident.ts';

/** @param since when recording began: the feed's time of update if there is no incident */
export function incidentsFeed(origin: string, since: string, incidents: Incidents): string {
  const entries = newestFirst(incidents);
  const updated = entries
    .map(([, incident]) => updatedOf(incident))
    .reduce((one, other) => (one > other ? one : other), since);
  const feed = { origin, title: 'Incidents', path: 'incidents', base: null, updated };
  return atomFeed(
    feed,
    entries.map((entry) => entryOf(origin, ...entry)),
  );
}

function updatedOf({ startedAt, endedAt }: IncidentValue): string {
  return endedAt ?? startedAt;
}

function entryOf(origin: string, id: string, incident: IncidentValue): string {
  const { kind, startedAt, endedAt } = incident;
  const until = endedAt === null ? 'and goes on' : `until ${endedAt}`;
  return (
    `<entry><id>${uuidOf(origin, `incident ${id}`)}</id><title>${xmlText(sentenceOf(incident))}</title>` +
    `<updated>${updatedOf(incident)}</updated><published>${startedAt}</published><author><name>${xmlText(origin)}</name></author>` +
    `<category term="${kind}"/><link rel="alternate" type="text/html" href="../status/"/>` +
    `<summary>Since ${startedAt}, ${until}.</summary></entry>`
  );
}
