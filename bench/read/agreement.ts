/** That all servers answer with the same content, so that the load compares like with like. */
import { isDeepStrictEqual } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { COMPRESSIBLE_MIN_BYTES } from '../../embedded/edge/encoding.ts';
import { ask, type Server, type ServerReply } from '../server-process.ts';
import type { ReadCase } from './cases.ts';

/** How one server is asked, and how many bytes its answer has. */
export interface Agreed {
  readonly headers: Readonly<Record<string, string>>;
  /** The header fields with their line ends, and the body. */
  readonly fieldBytes: number;
  readonly bodyBytes: number;
}

/**
 * By the name of the server. Throws if two answers differ in their content. `path` is one of those asked for.
 */
export async function agree(
  servers: readonly Server[],
  { title, headers, revalidates }: ReadCase,
  path: string,
): Promise<ReadonlyMap<string, Agreed>> {
  const agreed = new Map<string, Agreed>();
  let expected: unknown;
  for (const server of servers) {
    const reply = await ask(server, path, headers);
    const content = JSON.parse(decoded(reply).toString('utf8'));
    // Cursors are each server's own.
    if (content.page !== undefined) content.page = typeof content.page.nextCursor;
    expected ??= content;
    const wanted = headers['Accept-Encoding'] ?? 'identity';
    const { coding } = reply;
    const isAsWanted = wanted.includes(coding) || (coding === 'identity' && reply.body.length < COMPRESSIBLE_MIN_BYTES);
    if (reply.status !== 200 || !isAsWanted || !isDeepStrictEqual(content, expected)) {
      throw new Error(`${server.name} does not answer "${title}" as the others do: ${reply.status}, ${coding}`);
    }
    agreed.set(server.name, revalidates ? await revalidated(server, path, headers, reply) : sizes(headers, reply));
  }
  return agreed;
}

async function revalidated(
  server: Server,
  path: string,
  headers: ReadCase['headers'],
  { etag }: ServerReply,
): Promise<Agreed> {
  const conditional = { ...headers, 'If-None-Match': etag };
  const reply = await ask(server, path, conditional);
  if (reply.status !== 304) throw new Error(`${server.name} answers ${reply.status} to its own ETag ${etag}`);
  return sizes(conditional, reply);
}

function sizes(headers: ReadCase['headers'], { rawFields, body }: ServerReply): Agreed {
  // `: ` and the end of a line are two characters each.
  const fieldBytes = rawFields.reduce((sum, text) => sum + text.length + 2, 0);
  return { headers, fieldBytes, bodyBytes: body.length };
}

function decoded({ body, coding }: ServerReply): Buffer {
  if (coding === 'br') return brotliDecompressSync(body);
  return coding === 'gzip' ? gunzipSync(body) : body;
}
