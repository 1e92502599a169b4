/**
 * The incidents of the service.
 *
 * | partition   | sort      | holds                  |
 * |-------------|-----------|------------------------|
 * | `incidents` | `history` | {@link IncidentsValue} |
 *
 * An earlier version has an item for each incident, and one for `since`, instead. It may publish beside this version during an
 * upgrade, or after a return to it. So each plan that writes the record takes over the items and removes them.
 */
import type { IncidentKind } from '../../contract/bodies/incident-kinds.ts';
import type { ItemKey } from '../ports/ledger.ts';
import type { PrefixRange } from '../ports/paging.ts';

/** See `incidentSchema`. A finished incident never changes. */
export type IncidentValue = {
  kind: IncidentKind;
  about: string | null;
  markets: number | null;
  startedAt: string;
  /** Null: the incident continues. */
  endedAt: string | null;
};

export type IncidentsValue = {
  /** RFC 3339. Earlier incidents are not recorded. */
  since: string;
  /** The newest ones, at most INCIDENTS_MAX, by id. So one item holds them. */
  incidents: { [id: string]: IncidentValue };
};

const INCIDENT_PARTITION = 'incidents';

export const INCIDENTS_KEY: ItemKey<IncidentsValue> = { partition: INCIDENT_PARTITION, sort: 'history' };

export const FORMER_INCIDENTS: PrefixRange<IncidentValue> = { partition: INCIDENT_PARTITION, prefix: 'incident/' };
export const FORMER_SINCE_KEY: ItemKey<{ at: string }> = { partition: INCIDENT_PARTITION, sort: 'since' };
