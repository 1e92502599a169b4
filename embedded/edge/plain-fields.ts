/**
 * The header block of a plain read: a request that asks for one public object and nothing else. The grammar is stricter
 * than HTTP's, so that the fast lane and node:http can never understand a block differently: what is not plain here is
 * parsed by node:http alone.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isHost } from './framing.ts';

/** The fields of a block that decide an answer from the cache. */
export type PlainFields = Pick<IncomingHttpHeaders, 'if-none-match' | 'accept-encoding'>;

/**
 * One field line (RFC 9112, section 5): a token, a colon, and visible ASCII, spaces and tabs. No line folding, no bytes
 * above 0x7E, no bare CR or LF.
 */
const FIELD_LINE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e]*)\r\n/y;

/** They frame a message, ask for something other than the object, or need node:http's own rules. */
const NOT_PLAIN = new Set([
  ...['content-length', 'transfer-encoding', 'trailer', 'te', 'upgrade', 'http2-settings', 'proxy-connection'],
  ...['expect', 'range', 'if-range', 'authorization'],
]);

export interface PlainRules {
  readonly maxHeaderCount: number;
  /** Whether `Cache-Control` may change an answer. If not, it is plain: browsers and `fetch` send it when they poll. */
  readonly isCacheControlRead: boolean;
}

/** Read here. Twice in one block, they are not plain. */
const READ = new Set(['host', 'connection', 'if-none-match', 'accept-encoding']);

/**
 * Reads a header block: its field lines and the empty line at the end, nothing after it.
 *
 * @returns null if it is not plain
 */
export function readPlainFields(block: string, rules: PlainRules): PlainFields | null {
  const fields = new Map<string, string>();
  let count = 0;
  FIELD_LINE.lastIndex = 0;
  for (let end = 0; !(end === block.length - 2 && block.endsWith('\r\n')); end = FIELD_LINE.lastIndex) {
    const line = FIELD_LINE.exec(block);
    if (line === null || ++count > rules.maxHeaderCount) return null;
    const name = (line[1] as string).toLowerCase();
    if (NOT_PLAIN.has(name) || fields.has(name)) return null;
    if (name === 'cache-control' && rules.isCacheControlRead) return null;
    if (READ.has(name)) fields.set(name, trimmed(line[2] as string));
  }
  const host = fields.get('host');
  const connection = fields.get('connection');
  if (host === undefined || !isHost(host)) return null;
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return null;
  const [ifNoneMatch, acceptEncoding] = [fields.get('if-none-match'), fields.get('accept-encoding')];
  return {
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
    ...(acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }),
  };
}

/** Without the optional white space around a value (RFC 9110, section 5.6.3): spaces and tabs alone. */
function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value, start)) start++;
  while (end > start && isBlank(value, end - 1)) end--;
  return value.slice(start, end);
}

function isBlank(value: string, index: number): boolean {
  return value[index] === ' ' || value[index] === '\t';
}
