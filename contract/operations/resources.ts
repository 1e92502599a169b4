/** Fields that several operations share: ids, pages, texts. */
import * as z from 'zod';
import { NEXT_CURSOR } from '../values/market.ts';
import { hiddenIn } from '../values/public-text.ts';

/**
 * An id: its prefix names the kind of resource, and its ULID sorts by time of creation. A ULID's first character is at most
 * 7; a larger one would overflow its time.
 */
export function idSchema(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`), { error: `must be an id like ${prefix}_…` });
}

/** The path parameter of a resource. */
export function idParams(prefix: string) {
  return z.strictObject({ id: idSchema(prefix) });
}

/** Text that a person wrote: well-formed, not blank, without control characters except line breaks. */
export function textSchema(maxLength: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((text) => hiddenIn(text) === null, { error: ({ input }) => hiddenIn(input as string) ?? undefined });
}

/** Text like {@link textSchema} on one line. */
export function lineSchema(maxLength: number) {
  return textSchema(maxLength).refine((text) => !/[\n\t]/.test(text), { error: 'must be a single line' });
}

export const SUBJECT =
  'An owner: `user:<sub>`, a signed-in user; `account:<waitlist request id>`, the account of API keys; or ' +
  '`operator`, the operator of the deployment.';

/** The subjects that are a person, or may be one, as a pattern. A subject becomes part of ledger keys, so its form is restricted. */
export const PERSON = 'user:[\\x21-\\x2e\\x30-\\x7e]{1,255}|account:req_[0-9A-HJKMNP-TV-Z]{26}';

export const subjectSchema = z
  .string()
  .max(300)
  .regex(new RegExp(`^(${PERSON}|operator)$`), {
    error: 'must be user:<sub>, account:<waitlist request id> or operator',
  })
  .describe(SUBJECT);

export const LISTING_PAGE_SIZE = 50;

export const pageQuery = {
  cursor: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe(
      '`nextCursor` of the previous page, unchanged. Use it with the same credential and filter, within 24 hours. ' +
        'If left out: the first page.',
    ),
} as const;

export const revisionSchema = z
  .int()
  .min(1)
  .describe('Grows with each change. The ETag of the resource is this number.');

/** A page of a listing. Its cursor is valid only for this credential and this filter; it is not a public cursor. */
export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    data: z.array(item).meta({ maxItems: LISTING_PAGE_SIZE }),
    page: z.strictObject({ nextCursor: z.string().nullable().describe(NEXT_CURSOR) }),
  });
}
