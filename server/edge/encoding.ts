/** Content codings: choosing one for a client, and compressing. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** The codings of the edge, in the order of preference among codings that the client wants equally. */
const CODINGS = ['br', 'gzip', 'identity'] as const;

export type Coding = (typeof CODINGS)[number];
export type CompressedCoding = Exclude<Coding, 'identity'>;

/** Outside these sizes, compression costs more than it saves. The same bounds as CloudFront's, in bytes. */
const COMPRESSIBLE_MIN_BYTES = 1_000;
const COMPRESSIBLE_MAX_BYTES = 10_000_000;

/** Text types. All other published bodies are compressed already, or are hashes, which cannot be compressed. */
const COMPRESSIBLE_TYPE = /^(text\/|application\/([a-z.-]+\+)?(json|xml)|application\/x-ndjson|image\/svg)/;

// Quality 5 is where brotli becomes smaller than gzip at about gzip's speed; 6 is zlib's default.
const BROTLI_QUALITY = 5;
const GZIP_LEVEL = 6;

const REMEMBERED_HEADERS = 256;
const REMEMBERED_HEADER_LENGTH = 256;
const remembered = new LRUCache<string, readonly Coding[]>({ max: REMEMBERED_HEADERS });

/** Since 1.0.0 a second argument breaks ties. The type declarations lack it. */
interface TieBreaking {
  encodings(available: readonly Coding[], options: { readonly preferred: readonly Coding[] }): Coding[];
}

/**
 * The codings that the client accepts, the most wanted first (RFC 9110, section 12.5.3). Empty: no coding of the edge.
 */
export function acceptedCodings(acceptEncoding = ''): readonly Coding[] {
  const known = remembered.get(acceptEncoding);
  if (known !== undefined) return known;
  // Lower case, because Negotiator reads the weight only as `q`, although its name is case-insensitive (RFC 9110, section
  // 12.4.2).
  const headers = { 'accept-encoding': acceptEncoding.toLowerCase() };
  const negotiator = new Negotiator({ headers }) as unknown as TieBreaking;
  const accepted = negotiator.encodings(CODINGS, { preferred: CODINGS });
  if (acceptEncoding.length <= REMEMBERED_HEADER_LENGTH) remembered.set(acceptEncoding, accepted);
  return accepted;
}

/**
 * The coding of one answer. Bodies outside the compressible sizes and types are sent plain, unless the client refuses
 * plain bytes. A client that accepts no coding at all gets plain bytes too: section 12.1 lets the server ignore the field
 * instead of answering 406.
 */
export function chooseCoding(acceptEncoding: string | undefined, sizeBytes: number, isText: boolean): Coding {
  const accepted = acceptedCodings(acceptEncoding);
  const compressible = isText && sizeBytes >= COMPRESSIBLE_MIN_BYTES && sizeBytes <= COMPRESSIBLE_MAX_BYTES;
  if (!compressible && accepted.includes('identity')) return 'identity';
  return accepted[0] ?? 'identity';
}

/** Whether compression is worth its time for bodies of this content type. */
export function isTextType(contentType: string): boolean {
  return COMPRESSIBLE_TYPE.test(contentType);
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Compresses on the thread pool, so that the event loop goes on serving. */
export function compress(body: Uint8Array, coding: CompressedCoding): Promise<Buffer> {
  if (coding === 'gzip') return gzipAsync(body, { level: GZIP_LEVEL });
  return brotliAsync(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  });
}
