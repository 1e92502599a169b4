/** Editions: generations that an operator has named, so that readers can cite them. */
import * as z from 'zod';
import { SLUG_MAX_LENGTH, SLUG_PATTERN } from './limits.ts';
import { instantSchema } from './metric.ts';
import { publicTextSchema } from './public-text.ts';

export const editionNameSchema = z
  .string()
  .max(SLUG_MAX_LENGTH)
  .regex(new RegExp(`^${SLUG_PATTERN}$`), { error: 'must be lower-case words joined by single hyphens' })
  .describe('The name of the edition in URLs: lower-case words joined by single hyphens, e.g. `2026-q3`.');

export const editionNoteSchema = publicTextSchema(500).nullable();

/** An edition as its operators see it. */
export const editionSchema = z.strictObject({
  name: editionNameSchema,
  note: editionNoteSchema.describe('Public text about the edition. Null: no text.'),
  state: z
    .enum(['waiting', 'copying', 'published', 'failed', 'removed'])
    .describe(
      '`waiting`: for a generation whose list shows all of its markets; `copying`: `generation` is chosen, and its ' +
        'bodies are being copied; `published`: readable; `failed`: a body was damaged before it was copied, so ask ' +
        'again under another name; `removed`: by an operator. A name is never used again.',
    ),
  createdAt: instantSchema,
  generation: z.int().min(1).nullable().describe('The generation that it names. Null: not chosen yet.'),
  publishedAt: instantSchema.nullable().describe('When that generation was published. Null: not chosen yet.'),
  failure: z.string().nullable().describe('Why it failed. Null: it did not.'),
  href: z.string().describe('The path of the public document, from the root of the host of readers.'),
});

export type Edition = z.infer<typeof editionSchema>;
