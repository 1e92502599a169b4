/**
 * The incidents of the service.
 *
 * | partition   | sort            | holds                                     |
 * |-------------|-----------------|-------------------------------------------|
 * | `incidents` | `incident/<id>` | {@link IncidentValue}, in order of time   |
 * | `incidents` | `since`         | {@link IncidentsSinceValue}               |
 */
import type { IncidentKind } from '../../contract/bodies/incident-kinds.ts';
import type { ItemKey } from '../ports/ledger.ts';
import type { PrefixRange } from '../ports/paging.ts';
import { keyIn } from './keys.ts';

/** See `incidentSchema`. A finished incident never changes. */
export type IncidentValue = {
  kind: IncidentKind;
  about: string | null;
  markets: number | null;
  startedAt: string;
  /** Null: the incident continues. */
  endedAt: string | null;
};

/** RFC 3339. Earlier incidents are not recorded. */
export type IncidentsSinceValue = { at: string };

const INCIDENT_PARTITION = 'incidents';

export const INCIDENTS: PrefixRange<IncidentValue> = { partition: INCIDENT_PARTITION, prefix: 'incident/' };
/** The id begins with the moment at which the incident began. */
export const incidentKey = (id: string) => keyIn(INCIDENTS, id);

export const INCIDENTS_SINCE_KEY: ItemKey<IncidentsSinceValue> = { partition: INCIDENT_PARTITION, sort: 'since' };
