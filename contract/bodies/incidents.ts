/** The past incidents of the service in one file. docs/decisions/102 defines an incident. */
import * as z from 'zod';
import { INCIDENTS_MAX } from '../files/limits.ts';
import { instantSchema } from '../values/metric.ts';
import { INCIDENT_KINDS } from './incident-kinds.ts';

export const incidentSchema = z.strictObject({
  id: z.string().regex(/^[0-9]{17}-[a-z-]+-[0-9a-f]{8}$/),
  kind: z
    .enum(INCIDENT_KINDS)
    .describe(
      '`publication-late`: accepted changes waited for more than five minutes. `market-deferred`, `files-deferred`: a market, or a ' +
        'kind of files, was left out of publications for more than five minutes. `source-late`: a source did not publish in time.',
    ),
  about: z
    .string()
    .nullable()
    .describe(
      'By `kind`: the slug of the market, the kind of files, or the label of the source. Null: the whole service.',
    ),
  markets: z.int().min(1).nullable().describe('How many markets were concerned when it was noticed. Null: not known.'),
  startedAt: instantSchema.describe('Since when readers waited.'),
  endedAt: instantSchema.nullable().describe('Null: it goes on. An incident that is over never changes.'),
  summary: z.string().describe('One sentence for people.'),
});

/** `GET /api/v1/incidents.json`. */
export const incidentsSchema = z.strictObject({
  since: instantSchema.describe('Incidents that began before this moment are not recorded.'),
  data: z.array(incidentSchema).max(INCIDENTS_MAX).describe('The newest ones, by `startedAt`, newest first.'),
});

export type PublicIncident = Readonly<z.infer<typeof incidentSchema>>;
export type PublicIncidents = Readonly<z.infer<typeof incidentsSchema>>;
