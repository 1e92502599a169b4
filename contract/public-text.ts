/** The rules for texts that become public: anybody can read them, for good, and in any font. */
import * as z from 'zod';

/**
 * An e-mail address, also an internationalised one (RFC 6531). URLs may have an `@` before a version or a scope of a
 * package. So an address needs a host with a dot, no slash before it and no slash after its host.
 */
export const EMAIL_ADDRESS =
  /(?<![/\p{L}\p{M}\p{N}_.+-])[\p{L}\p{M}\p{N}_.+-]+@[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)*\.(?=\p{L}{2})(?![\p{L}\p{M}\p{N}_-]*\/)\p{L}+/gu;

/** Patterns that must not be in any public byte, in texts or in URLs. */
export const NEVER_PUBLIC = {
  'an e-mail address': EMAIL_ADDRESS,
  'an API key': /\btdm_[a-z]+_/g,
  'a bearer token': /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g,
} as const;

/**
 * Fields of internal records. A public body may not have a field of such a name, except the few that its schema
 * defines.
 */
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

/** Every match of {@link NEVER_PUBLIC} contains one of these, so most texts need only this cheap search. */
const HINT_OF_NEVER_PUBLIC = /@|tdm_|eyJ/;

/** The kind of the first match of {@link NEVER_PUBLIC} in a text; null if there is no match. */
export function neverPublicIn(text: string): keyof typeof NEVER_PUBLIC | null {
  if (!HINT_OF_NEVER_PUBLIC.test(text)) return null;
  const kinds = Object.keys(NEVER_PUBLIC) as (keyof typeof NEVER_PUBLIC)[];
  return kinds.find((kind) => text.search(NEVER_PUBLIC[kind]) !== -1) ?? null;
}

/**
 * Characters that are invisible, break the line or turn its direction, and halves of surrogate pairs. The joiners
 * (U+200C and U+200D) belong to the spelling of Arabic and Indic scripts, so they are allowed after a letter without
 * case.
 */
const UNPRINTABLE =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d]]|(?<!\p{Lo}\p{M}*)[\u200c\u200d]/v;

/** Something to see. U+2800 is a symbol of braille without dots. */
const VISIBLE = /[[\p{L}\p{N}\p{P}\p{S}]--\u2800]/v;

/**
 * Characters that look like the dot of an address, in Unicode's confusables (UTS 39, version 15.1); and the ideographic
 * full stop, which names of hosts may have for a dot (UTS 46). The sign `@` has no such character beyond form KC, and an
 * address may have letters of any script.
 */
const LIKE_A_DOT = /[\u0660\u06f0\u0701\u0702\u3002\ua4f8\ua60e\u{10a50}\u{1d16d}]/gu;

const PLAIN_ASCII = /^[\x20-\x7e]*$/;

/** A text that becomes public as it is. White space around it is trimmed. */
export function publicTextSchema(maxLength: number) {
  return z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .refine((text) => faultOf(text) === null, { error: ({ input }) => faultOf(input as string) ?? undefined });
}

/** The fault of a text for reviewers and operators, who must see what was sent. Null: the text has no fault. */
export function hiddenIn(text: string): string | null {
  if (PLAIN_ASCII.test(text)) return null;
  if (UNPRINTABLE.test(text.replaceAll(/[\n\t]/g, ' '))) {
    return 'must be well-formed text without control or invisible characters and without marks of direction';
  }
  return text === '' || VISIBLE.test(text) ? null : 'must not look blank';
}

/** Stated once in each operation that takes texts in. */
export const PUBLIC_TEXT =
  'Texts become public. Each text is one line, without control or invisible characters, and without e-mail ' +
  'addresses, API keys or tokens.';

function faultOf(text: string): string | null {
  if (!PLAIN_ASCII.test(text) && UNPRINTABLE.test(text))
    return 'must be one line of well-formed text, without control or invisible characters';
  if (text !== '' && !VISIBLE.test(text)) return 'must not look blank';
  // In a URL, a slash tells an address from a package. Texts have no such rule, so the second search ignores slashes.
  // Full-width and similar forms are read as the plain ones (Unicode TR15, form KC), so addresses in them are found too.
  const plain = text.normalize('NFKC').replace(LIKE_A_DOT, '.');
  const found = neverPublicIn(text) ?? neverPublicIn(plain) ?? neverPublicIn(plain.replaceAll('/', ' '));
  return found === null ? null : `becomes public: leave out ${found}`;
}
