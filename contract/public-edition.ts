/** The public document of an edition. */
import * as z from 'zod';
import { editionNameSchema, editionNoteSchema } from './editions.ts';
import { snapshotSchema } from './market.ts';

/** `GET /api/v1/editions/{name}`: the public document. It never changes. */
export const publicEditionSchema = z.strictObject({
  name: editionNameSchema,
  note: editionNoteSchema.describe('What the operator says about the edition. Null: nothing.'),
  ...snapshotSchema.pick({ generation: true, publishedAt: true, counts: true, listDigest: true }).shape,
  log: z
    .strictObject({
      size: z.int().min(0).describe('The number of entries of the log at this generation.'),
      root: z.string().describe('The root hash of the log at this size, in base64.'),
    })
    .nullable()
    .describe('The position of the log. Null: the deployment had no log.'),
  markets: z.string().describe('The path of the first page of its markets, from the root of the host.'),
});

export type PublicEdition = z.infer<typeof publicEditionSchema>;
