/** `GET /api/v1/waitlist`: how to ask for an API key. The only public body with an e-mail address in it. */
import * as z from 'zod';

/** Only plain addresses, which need no escape in a `mailto:` URL (RFC 6068, section 2). */
export const waitlistEmailSchema = z
  .string()
  .max(254)
  .regex(/^[\w.+-]+@[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$/i, { error: 'must be an address such as keys@example.com' });

/** Domains without mailboxes: RFC 2606, sections 2 and 3. */
const RESERVED_DOMAIN = /[@.](test|example|invalid|localhost|example\.(com|net|org))$/i;

/** Whether mail can never arrive at this address. */
export function isUnreachable(email: string): boolean {
  return RESERVED_DOMAIN.test(email);
}

const READING = 'Reading needs no key: everything that is published is public.';

const sentence = z.string().min(1);

export const waitlistSchema = z.strictObject({
  email: waitlistEmailSchema.nullable().describe('Where requests go. Null: this service takes no requests.'),
  mailto: z
    .url({ protocol: /^mailto$/ })
    .nullable()
    .describe('`email` as a link.'),
  statements: z
    .array(
      z.strictObject({
        name: z.enum(['contact', 'use-case', 'requests-per-day', 'consent']),
        description: sentence,
      }),
    )
    .meta({ maxItems: 10 })
    .describe('The statements that a request must contain.'),
  nextSteps: z.array(sentence).meta({ maxItems: 10 }).describe('The steps after a request, in order.'),
  terms: z.array(sentence).meta({ maxItems: 10 }).describe('What a key changes, and what it does not change.'),
});

export type Waitlist = z.infer<typeof waitlistSchema>;

/**
 * The document of one deployment.
 *
 * @param email the address for requests; null: the service issues no keys
 * @throws ZodError for an address that {@link waitlistEmailSchema} refuses
 */
export function waitlistBody({ email }: { readonly email: string | null }): Waitlist {
  if (email === null) return { email, mailto: null, statements: [], nextSteps: [], terms: [READING] };
  return {
    email: waitlistEmailSchema.parse(email),
    mailto: `mailto:${email}`,
    statements: [
      { name: 'contact', description: 'Who you are, and an address at which we can answer.' },
      { name: 'use-case', description: 'What you want to do with the API.' },
      { name: 'requests-per-day', description: 'How many requests a day you expect to make, as a number.' },
      {
        name: 'consent',
        description:
          'That you agree that we keep these statements, for the decision and for as long as you hold a key. You ' +
          'can ask for their erasure at any time.',
      },
    ],
    nextSteps: [
      'An operator records the request and approves or rejects it.',
      'We answer to the address that you have stated.',
      'Once approved, an operator issues an API key with the scopes that the use case needs. Its secret is shown once.',
    ],
    terms: [
      READING,
      'A key buys no influence over ranking: markets are listed by slug, and no payment changes what is published.',
      'A key gives no access to personal data.',
    ],
  };
}
