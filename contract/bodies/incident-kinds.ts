/** The kinds of incidents. Without the schema library, because the publisher renders with it. */
export const INCIDENT_KINDS = ['publication-late', 'market-deferred', 'files-deferred', 'source-late'] as const;

export type IncidentKind = (typeof INCIDENT_KINDS)[number];
