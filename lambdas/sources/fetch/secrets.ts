/** Inserts the secrets of a recipe directly before its source is asked, and keeps them out of answers and errors. */
import { readableForms } from '../../../contract/values/public-text.ts';
import { secretsIn, withSecrets } from '../../../mapping/recipe/recipe-secrets.ts';
import { UnpackError, unpacked } from '../../../mapping/recipe/unpack.ts';
import type { AskSource } from '../run/dependencies.ts';
import { pieces } from '../run/derive-file.ts';
import type { FetchAnswer, FetchRequest } from './fetch-source.ts';

export interface SourceSecret {
  /** The only host that may receive the secret. With its port, unless that is the scheme's default. */
  readonly host: string;
  readonly value: string;
}

const HIDDEN = '[secret]';

/** @param secretOf returns the secrets that the operator of the service has set; no recipe can change them */
export function askWithSecrets(ask: AskSource, secretOf: (name: string) => SourceSecret | undefined): AskSource {
  return async (request) => {
    const { url, headers = {} } = request;
    const names = new Set([url, ...Object.values(headers)].flatMap(secretsIn));
    if (names.size === 0) return await ask(request);
    const { host } = new URL(url);
    const values = new Map<string, string>();
    for (const name of names) {
      const secret = secretOf(name);
      if (secret === undefined) {
        return refused(
          'no-secret',
          `The recipe needs the secret ${name}, and TIDEMARK_SECRET_${name} of the service is not set.`,
        );
      }
      if (secret.host !== host) {
        return refused(
          'not-allowed',
          `The secret ${name} may go to ${secret.host} alone, and the recipe asks ${host}.`,
        );
      }
      values.set(name, secret.value);
    }
    const secretFor = (name: string) => values.get(name) as string;
    const filled = Object.entries(headers).map(([name, value]) => [name, withSecrets(value, secretFor)]);
    const secrets = [...values.values()];
    const isSecret = finder(secrets);
    try {
      const answer = await ask({
        ...request,
        url: withSecrets(url, (name) => encodeURIComponent(secretFor(name))),
        headers: Object.fromEntries(filled),
        isSecret,
      });
      return await cleared(request, answer, isSecret, secrets);
    } catch (error) {
      // Without stack and causes, which may contain the URL.
      throw isSecret((error as Error).message) ? new Error(`The fetch failed: ${HIDDEN}.`) : error;
    }
  };
}

async function cleared(
  request: FetchRequest,
  answer: FetchAnswer,
  isSecret: NonNullable<FetchRequest['isSecret']>,
  secrets: readonly string[],
): Promise<FetchAnswer> {
  if (answer.kind === 'not-modified') return answer;
  if (answer.kind === 'failed')
    return isSecret(answer.detail) ? { ...answer, detail: `The fetch failed: ${HIDDEN}.` } : answer;
  // Archived answers are kept permanently, so they must not contain a secret.
  if (isInBytes(answer.bytes, secrets) || isInBytes(await fileIn(request, answer.bytes), secrets)) {
    return refused('secret-in-answer', 'The answer repeats the secret of the request, so it is not kept.');
  }
  const shown = (header: string | null) => (header === null || isSecret(header) ? null : header);
  return { ...answer, etag: shown(answer.etag), lastModified: shown(answer.lastModified) };
}

/** The file that is packed in an answer: as much of it as can be unpacked. */
async function fileIn({ unpack, maxBytes }: FetchRequest, bytes: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  if (unpack === undefined) return Buffer.concat(chunks);
  try {
    for await (const chunk of unpacked({ unpack, limits: { maxBytes } }, pieces(bytes))) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof UnpackError)) throw error;
  }
  return Buffer.concat(chunks);
}

/** The secrets as text, and in Base64. */
function formsOf(secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((value) => [value, ...inBase64(value, 'base64'), ...inBase64(value, 'base64url')]);
}

/** Base64 writes three bytes as four characters, so the same text has three forms: after 0, 1 or 2 other bytes. */
function inBase64(value: string, encoding: 'base64' | 'base64url'): readonly string[] {
  return [0, 1, 2].map((before) => {
    const bits = 8 * (before + value.length);
    // Only the characters that depend on the value alone.
    return Buffer.from('\0'.repeat(before) + value)
      .toString(encoding)
      .slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
  });
}

/** Searches short texts, also in percent-encoded form at any depth. */
function finder(secrets: readonly string[]): (text: string) => boolean {
  const forms = formsOf(secrets);
  return (text) => readableForms(text).some((readable) => forms.some((form) => readable.includes(form)));
}

/** Searches also for forms that are escaped once or twice, as in JSON, XML or a URL. A secret is plain ASCII. In UTF-16, NULs separate its letters. */
function isInBytes(bytes: Uint8Array, secrets: readonly string[]): boolean {
  const forms = formsOf(secrets);
  let text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1').replaceAll('\0', '');
  for (let times = 0; times <= ESCAPED_MAX; times++) {
    if (forms.some((form) => text.includes(form))) return true;
    text = text.replace(ESCAPED, unescaped);
  }
  return false;
}

const ESCAPED_MAX = 2;
/** `\u002f` and `\/` of JSON (RFC 8259, section 7), `&#x2f;`, `&#47;` and `&amp;` of XML, `%2f` of a URL. */
const ESCAPED =
  /\\u00([\da-f]{2})|\\(["\\/])|&#x0*([\da-f]{2});|&#0*(\d{2,3});|&(amp|lt|gt|quot|apos);|%([\da-f]{2})/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(_: string, ...groups: readonly (string | undefined)[]): string {
  const [ofJson, plain, ofXml, decimal, named, ofUrl] = groups;
  if (plain !== undefined) return plain;
  if (named !== undefined) return NAMED[named.toLowerCase()] as string;
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  return String.fromCharCode(Number.parseInt((ofJson ?? ofXml ?? ofUrl) as string, 16));
}

function refused(code: string, detail: string): FetchAnswer {
  return { kind: 'failed', code, detail, isRetryable: false, retryAfterSeconds: null };
}
