/** What a text must be to become public: what is published can be read by anybody, for good, and in any font. */
import * as z from 'zod';

/**
 * An e-mail address, also an internationalised one (RFC 6531). URLs may hold an `@` where a package has its version or its
 * scope, so an address needs a dotted host, no slash before it, and no slash after its host.
 */
export const EMAIL_ADDRESS =
  /(?<![/\p{L}\p{M}\p{N}_.+-])[\p{L}\p{M}\p{N}_.+-]+@[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)*\.(?=\p{L}{2})(?![\p{L}\p{M}\p{N}_-]*\/)\p{L}+/gu;

/** What no public byte may hold, neither in a text nor in a URL. */
export const NEVER_PUBLIC = {
  'an e-mail address': EMAIL_ADDRESS,
  'an API key': /\btdm_[a-z]+_/g,
  'a bearer token': /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g,
} as const;

/** Fields of records that are not public. Nothing in a public body may have such a name, but for a few that it defines. */
export const INTERNAL_FIELDS = [
  'actor',
  'attemptId',
  'keyId',
  'userId',
  'subject',
  'requestId',
  'email',
  'contact',
] as const;

/** In everything of {@link NEVER_PUBLIC}: what has none of these, as nearly every text, needs no closer look. */
const HINT_OF_NEVER_PUBLIC = /@|tdm_|eyJ/;

/** The first thing of {@link NEVER_PUBLIC} that a text holds; null when it holds nothing of it. */
export function neverPublicIn(text: string): keyof typeof NEVER_PUBLIC | null {
  if (!HINT_OF_NEVER_PUBLIC.test(text)) return null;
  const kinds = Object.keys(NEVER_PUBLIC) as (keyof typeof NEVER_PUBLIC)[];
  return kinds.find((kind) => text.search(NEVER_PUBLIC[kind]) !== -1) ?? null;
}

/**
 * What shows as nothing, breaks the line or turns its direction, and halves of surrogate pairs. The joiners (U+200C and
 * U+200D) are part of how Arabic and Indic scripts are spelled: there, after a letter without case, they are no deceit.
 */
const UNPRINTABLE =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d]]|(?<!\p{Lo}\p{M}*)[\u200c\u200d]/v;

const PLAIN_ASCII = /^[\x20-\x7e]*$/;

/** A text that becomes public as it is, but for white space around it, which is trimmed off. */
export function publicTextSchema(maxLength: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((text) => faultOf(text) === null, { error: ({ input }) => faultOf(input as string) ?? undefined });
}

/** To be said once where texts are taken in. */
export const PUBLIC_TEXT =
  'Texts become public: each is one line, without control characters or invisible ones, and without e-mail addresses, API ' +
  'keys or tokens.';

function faultOf(text: string): string | null {
  if (!PLAIN_ASCII.test(text) && UNPRINTABLE.test(text))
    return 'must be one line of well-formed text, without control or invisible characters';
  // In a URL a slash tells an address from a package. A text is none: there an address beside a slash is one all the same.
  const found = neverPublicIn(text) ?? neverPublicIn(text.replaceAll('/', ' '));
  return found === null ? null : `becomes public: leave out ${found}`;
}
