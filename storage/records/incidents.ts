/**
 * The incidents of the service.
 *
 * | partition   | sort      | holds                  |
 * |-------------|-----------|------------------------|
 * | `incidents` | `history` | {@link IncidentsValue} |
 */
import type { PublicIncident } from '../../contract/bodies/incidents.ts';
import type { ItemKey } from '../ports/ledger.ts';

/** See `incidentSchema`. A finished incident never changes. */
export type IncidentValue = Omit<PublicIncident, 'id' | 'summary'>;

export type IncidentsValue = {
  /** RFC 3339. Earlier incidents are not recorded. */
  since: string;
  /** The newest ones, at most INCIDENTS_MAX, by id. So one item holds them. */
  incidents: { [id: string]: IncidentValue };
};

export const INCIDENTS_KEY: ItemKey<IncidentsValue> = { partition: 'incidents', sort: 'history' };
