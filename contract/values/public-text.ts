/** The rules for texts that become public: anybody can read them, for ever, and in any font. */
import * as z from 'zod';

/** Characters of the part before the `@`, and of a label of the host. */
const LOCAL = String.raw`\p{L}\p{M}\p{N}_.+\-`;
const LABEL = String.raw`[\p{L}\p{M}\p{N}_\-]`;

/** Top-level domains with most mailboxes, without those that are also extensions of files, such as `py`, `rs` and `md`. */
const MAIL_DOMAINS =
  'com|org|net|edu|gov|mil|int|info|biz|name|email|example|test|eu|uk|de|fr|it|es|pt|nl|be|at|ch|ie|se|no|fi|dk|cz|sk|hu|' +
  'ro|bg|gr|ua|ru|tr|il|in|cn|jp|kr|tw|hk|sg|au|nz|ca|us|mx|br|ar|cl|za|ng|ke|eg|io|co|me';

/**
 * An e-mail address, including internationalised ones (RFC 6531), in one of three forms:
 *
 * - Without a slash directly before it or after its host: URLs may have an `@` before a version or a scope of a package.
 * - Anywhere in a URL, if its host ends in a domain of many mailboxes and does not begin with a version. So
 *   `package@1.2.3`, `logo@2x.png` and `package@next.js` do not match.
 * - After a local part in quotes (RFC 5321, section 4.1.2), even where JSON escapes the quotes.
 */
export const EMAIL_ADDRESS = new RegExp(
  [
    String.raw`(?<![/${LOCAL}])[${LOCAL}]+@${LABEL}+(\.${LABEL}+)*\.(?=\p{L}{2})(?!${LABEL}*\/)\p{L}+`,
    String.raw`(?<![${LOCAL}])[${LOCAL}]+@(?!v?\d+\.\d)(?:${LABEL}+\.)+(?:${MAIL_DOMAINS})(?!\.?[\p{L}\p{M}\p{N}_-])`,
    String.raw`"(?=[^"\n]*\p{L})[^"\n]{1,64}"@${LABEL}+(\.${LABEL}+)*\.(?=\p{L}{2})\p{L}+`,
  ].join('|'),
  'giu',
);

/**
 * Keys of other services, by the prefixes that these services document: AWS, GitHub, GitLab, Stripe, OpenAI and Anthropic,
 * Slack, Google; and private keys (RFC 7468). Each part has a bounded length, so that words of data do not match.
 */
const SHAPED_KEYS =
  /(?<![A-Za-z\d])(?:(?:AKIA|ASIA(?=[A-Z]*\d))[A-Z2-7]{16}(?![A-Za-z\d])|gh[opsur]_[A-Za-z\d]{36}|github_pat_\w{22}|glpat-[\w-]{20}|[rs]k_(?:live|test)_[A-Za-z\d]{16}|sk-(?:(?:proj|svcacct|admin|ant-api\d\d|or-v1)-[\w-]{20}|(?=[A-Za-z]*\d)[A-Za-z\d]{32})|xox[abeprs]-[\w-]{10}|AIza[\w-]{35}(?![\w-]))|-----BEGIN [A-Z ]*PRIVATE KEY/g;

/**
 * Patterns that must not be in any public byte, in texts or in URLs. A token is found from its first dot, backwards: from its
 * beginnings, a long word with many of them would take hours.
 */
export const NEVER_PUBLIC = {
  'an e-mail address': EMAIL_ADDRESS,
  'an API key': /\btdm_[a-z]+_/g,
  'a bearer token': /(?<=\beyJ[\w-]{8,})\.[\w-]+\.[\w-]+/g,
  'a key of another service': SHAPED_KEYS,
} as const;

/** Fields of internal records. A public body must not have a field of such a name, except the few in its schema. */
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

/** Every match of the patterns contains one of these, so most texts need only this cheap search. */
const HINT_OF_NEVER_PUBLIC = /[@=]|tdm_|eyJ|A[KS]IA|AIza|gh[opsur]_|github_|glpat|[rs]k[_-]|xox|PRIVATE/;

/** A parameter with a value in a URL: `?name=value`, `&name=value`, `;name=value`, `#name=value`. */
const PARAMETER = /[?&;#]([\w.[\]-]{1,60})=([^?&;#\s"'<>]+)/g;

/**
 * Names of parameters that always hold a credential: in lower case, letters and digits only. They include the names in
 * signed URLs of S3, Google Cloud and CloudFront.
 */
const SECRET_NAME =
  /(api|app|access|auth|subscription|registration|secret|private)key(id)?$|(access|auth|api|security|session|refresh|id)token$|secret$|passw|^pwd$|signature$|credential$|sess(ion)?id$/;

/** Names that may hold a credential or something harmless, such as the key of a series. The value decides. */
const DOUBTFUL_NAME = /^(token|auth|key|sig|sid|appid)$/;

/**
 * A word of 16 letters and digits that alternate four times; one of 20 characters with both cases and a digit between
 * letters; or a UUID. Keys of series are shorter words, separated by dots, hyphens or underscores.
 */
const RANDOM_WORD =
  /(?<![A-Za-z\d])(?:(?=[A-Za-z\d]{16})[A-Za-z]*\d+[A-Za-z]+\d+[A-Za-z]+\d|(?=[A-Za-z\d]{20})(?=[A-Z\d]*[a-z])(?=[a-z\d]*[A-Z])[A-Za-z]+\d+[A-Za-z]|[\dA-Fa-f]{8}(?:-[\dA-Fa-f]{4}){3}-)/;

/** The name of the first parameter that holds a credential, or undefined. */
function secretParameter(text: string): string | undefined {
  return [...text.matchAll(PARAMETER)].find(([, name = '', value = '']) => {
    const plain = name.toLowerCase().replace(/[^a-z\d]/g, '');
    return SECRET_NAME.test(plain) || (DOUBTFUL_NAME.test(plain) && RANDOM_WORD.test(value));
  })?.[1];
}

/**
 * The forms of a text that a reader may see: unchanged; with its percent-encoding decoded once, twice and so on; and with
 * full-width and similar characters replaced by plain ones (Unicode TR15, form KC).
 */
export function readableForms(text: string): readonly string[] {
  if (PLAIN_ASCII.test(text) && !text.includes('%')) return [text];
  const forms = decodedForms(text);
  return [...new Set([...forms, ...forms.map(inFormKc)])];
}

/** The text after each decoding. The last one has no percent-encoding left. */
function decodedForms(text: string): readonly string[] {
  const forms = [text];
  for (let form = text; forms.length < ENCODINGS_MAX; forms.push(form)) {
    const read = form.replace(PERCENT_ENCODED, percentDecoded);
    if (read === form) break;
    form = read;
  }
  return forms;
}

/** The most levels of encoding: a text with more is not readable. */
const ENCODINGS_MAX = 5;
const PERCENT_ENCODED = /(?:%[\dA-F]{2})+/gi;

function percentDecoded(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The bytes are not UTF-8: decode only the plain characters.
    return encoded.replace(/%([2-7][\dA-F])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  }
}

function inFormKc(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  return text.replace(MANY_MARKS, '$1').normalize('NFKC').replace(LIKE_A_DOT, '.');
}

/** More marks on one letter than any script has (UAX 15, section 13). To sort them takes a time that grows with their square. */
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * Names the first content of a text that must never be public: a kind of {@link NEVER_PUBLIC}, or a parameter of a URL that
 * holds a credential. Null: the text has neither. All {@link readableForms} of the text are searched.
 */
export function neverPublicIn(text: string): string | null {
  const forms = readableForms(text);
  if (!forms.some((form) => HINT_OF_NEVER_PUBLIC.test(form))) return null;
  const kinds = Object.entries(NEVER_PUBLIC);
  // The search for addresses is slow in a long URL, and each address has an @.
  const hasAt = forms.some((form) => form.includes('@'));
  const found = kinds.find(
    ([, pattern]) => (hasAt || pattern !== EMAIL_ADDRESS) && forms.some((form) => form.search(pattern) !== -1),
  );
  if (found !== undefined) return found[0];
  const name = secretParameter(decodedForms(text).at(-1) as string);
  return name === undefined ? null : `the parameter ${name}, which holds a credential`;
}

/**
 * Characters that are invisible, break the line or change its direction, and halves of surrogate pairs. The joiners (U+200C
 * and U+200D) belong to the spelling of Arabic and Indic scripts, so they are allowed after a letter without case. Between
 * two emoji, U+200D joins them; after one, U+FE0F selects its picture (UTS 51, section 1.4).
 */
const UNPRINTABLE =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\ufe0f]]|(?<!\p{Lo}\p{M}*)\u200c|(?<!\p{Lo}\p{M}*)\u200d(?<!\p{ExtPict}\ufe0f?\p{EMod}?\u200d(?=\p{ExtPict}))|(?<!\p{ExtPict})\ufe0f/v;

const EVERY_UNPRINTABLE = new RegExp(UNPRINTABLE, 'gv');

/** A visible character. U+2800 is a braille symbol without dots, so it does not count. */
const VISIBLE = /[[\p{L}\p{N}\p{P}\p{S}]--\u2800]/v;

/**
 * Characters that look like the dot of an address, by Unicode's confusables (UTS 39, version 15.1); and the ideographic
 * full stop, which may replace a dot in a host name (UTS 46). No such character looks like `@` beyond form KC, and an
 * address may have letters of any script.
 */
const LIKE_A_DOT = /[\u0660\u06f0\u0701\u0702\u3002\ua4f8\ua60e\u{10a50}\u{1d16d}]/gu;

const PLAIN_ASCII = /^[\x20-\x7e]*$/;

/** A text that becomes public unchanged. White space around it is trimmed. */
export function publicTextSchema(maxLength: number) {
  return (
    z
      .string()
      .trim()
      .min(1)
      // A longer text is not searched.
      .max(maxLength, { abort: true })
      .refine((text) => faultOf(text) === null, { error: ({ input }) => faultOf(input as string) ?? undefined })
  );
}

/** The invisible characters that files most often contain by accident. */
const NAMES: Readonly<Record<string, string>> = {
  '\u00ad': 'soft hyphen',
  '\u200b': 'zero-width space',
  '\u200c': 'zero-width non-joiner',
  '\u200d': 'zero-width joiner',
  '\u200e': 'left-to-right mark',
  '\u200f': 'right-to-left mark',
  '\u2060': 'word joiner',
  '\ufeff': 'byte order mark',
};

/** The first character of a text that must not be public, with its code point and place; null if every character may be public. */
function unprintableIn(text: string): string | null {
  const found = UNPRINTABLE.exec(text);
  if (found === null) return null;
  const [character] = found;
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  const place = `as its character ${[...text.slice(0, found.index)].length + 1}: remove it`;
  if (/[\r\n\u2028\u2029\x85]/.test(character)) return `must be one line, and has a line break (${code}) ${place}`;
  if (!character.isWellFormed()) return `has half of a surrogate pair (${code}) ${place}`;
  if (/\p{Cc}/u.test(character)) return `has the control character ${code} ${place}`;
  const name = NAMES[character];
  return `has the invisible character ${code}${name === undefined ? '' : ` (${name})`} ${place}`;
}

const BREAK = /[\r\n\t\u2028\u2029\x85]/;

/** The text without invisible characters. A line break or tab becomes a space. */
export function withoutInvisible(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  return text
    .replaceAll(/[\s\x85]+/g, (space) => (BREAK.test(space) ? ' ' : space))
    .replaceAll(EVERY_UNPRINTABLE, (character) => (character.isWellFormed() ? '' : character));
}

/** The fault of a text for reviewers and operators, who must see the text as it was sent. Null: the text has no fault. */
export function hiddenIn(text: string): string | null {
  if (PLAIN_ASCII.test(text)) return null;
  const unprintable = unprintableIn(text.replaceAll(/[\n\t]/g, ' '));
  if (unprintable !== null) return unprintable;
  return text === '' || VISIBLE.test(text) ? null : 'must not look blank';
}

/** A sentence for each operation that accepts texts. */
export const PUBLIC_TEXT =
  'Texts become public. Each text is one line, without control or invisible characters, and without e-mail ' +
  'addresses, API keys or tokens.';

function faultOf(text: string): string | null {
  const unprintable = PLAIN_ASCII.test(text) ? null : unprintableIn(text);
  if (unprintable !== null) return unprintable;
  if (text !== '' && !VISIBLE.test(text)) return 'must not look blank';
  // In a URL, a slash distinguishes an address from a package. Texts have no such rule, so the second search ignores slashes.
  const withoutSlashes = inFormKc(text).replaceAll('/', ' ');
  const found = neverPublicIn(text) ?? (withoutSlashes === text ? null : neverPublicIn(withoutSlashes));
  return found === null ? null : `becomes public: leave out ${found}`;
}
