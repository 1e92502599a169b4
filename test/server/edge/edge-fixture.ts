/** A tiny object store with fault switches, an edge server in front of it, and two ways to talk to that. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import { PUBLIC_CACHE_CONTROL, type PublicObjectName, publicKey } from '../../../contract/files/public-objects.ts';
import type { HealthReport } from '../../../server/edge/answer.ts';
import type { Divert } from '../../../server/edge/bodies.ts';
import type { EdgeLimits } from '../../../server/edge/limits.ts';
import { ReadCounts } from '../../../server/edge/read-counts.ts';
import { createEdgeServer, type EdgeServer } from '../../../server/edge/server.ts';
import { StorageCorrupt, StorageUnavailable } from '../../../storage/ports/errors.ts';
import type { ETag, GetResult, ObjectStore, StoredObject } from '../../../storage/ports/object-store.ts';
import { listening } from '../../listening.ts';

export const NOON_MS = Date.UTC(2026, 10, 20, 12);
export const CURSOR = `7-${'0123456789abcdef'.repeat(2)}`;

export class FaultyObjects implements Pick<ObjectStore, 'get'> {
  readonly #objects = new Map<string, StoredObject>();
  /** The outcome of reads: an answer, a rejection, or never. */
  mode: 'up' | 'unavailable' | 'corrupt' | 'hangs' = 'up';
  /** Every read, in order: its key, and whether it was conditional. */
  readonly reads: { key: string; conditional: boolean }[] = [];
  /** When set, reads wait for it before they answer. */
  gate: Promise<void> | null = null;

  put(
    name: PublicObjectName,
    body: string,
    nextCursor: string | null = null,
    contentType = 'application/json',
  ): string {
    const bytes = new TextEncoder().encode(body);
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"` as ETag;
    const metadata = { contentType, cacheControl: PUBLIC_CACHE_CONTROL, cacheTag: null, generation: 1, nextCursor };
    this.#objects.set(publicKey(name), { etag, sizeBytes: bytes.length, body: bytes, metadata });
    return etag;
  }

  remove(name: PublicObjectName): void {
    this.#objects.delete(publicKey(name));
  }

  async get(key: string, options: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    this.reads.push({ key, conditional: options.ifNoneMatch !== undefined });
    const { mode } = this;
    const object = this.#objects.get(key);
    if (this.gate !== null) await this.gate;
    if (mode === 'unavailable') throw new StorageUnavailable('switched off');
    if (mode === 'corrupt') throw new StorageCorrupt('switched to damaged');
    if (mode === 'hangs') return new Promise(() => {});
    if (object === undefined) return { kind: 'absent' };
    if (object.etag === options.ifNoneMatch) return { kind: 'not-modified' };
    return { kind: 'found', ...object };
  }
}

export class FakeClock {
  nowMs = NOON_MS;
  advanceSeconds(seconds: number): void {
    this.nowMs += seconds * 1000;
  }
}

export interface Edge {
  readonly port: number;
  readonly server: Server;
  readonly purge: EdgeServer['purge'];
  readonly invalidate: EdgeServer['invalidate'];
  readonly stop: EdgeServer['stop'];
  readonly objects: FaultyObjects;
  readonly clock: FakeClock;
  readonly reports: unknown[];
  readonly counts: ReadCounts;
  close(): Promise<void>;
}

export async function startEdge(options: {
  readonly limits?: Partial<EdgeLimits>;
  readonly health?: () => HealthReport | Promise<HealthReport>;
  readonly isReady?: () => boolean;
  readonly divert?: Divert;
  readonly wantsNewest?: (request: IncomingMessage) => boolean;
}): Promise<Edge> {
  const objects = new FaultyObjects();
  const counts = new ReadCounts();
  const clock = new FakeClock();
  const reports: unknown[] = [];
  const { server, purge, invalidate, stop } = createEdgeServer({
    objects,
    nowMs: () => clock.nowMs,
    health: options.health ?? (() => ({ healthy: true, body: { status: 'ok' } })),
    report: (_what, cause) => reports.push(cause),
    counts,
    ...(options.isReady && { isReady: options.isReady }),
    ...(options.divert && { divert: options.divert }),
    ...(options.wantsNewest && { wantsNewest: options.wantsNewest }),
    ...(options.limits && { limits: options.limits }),
  });
  const port = Number(new URL(await listening(server)).port);
  async function close(): Promise<void> {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  }
  return { port, server, purge, invalidate, stop, objects, clock, reports, counts, close };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** One request with a connection of its own, which the client would keep. */
export async function ask(
  edge: { readonly port: number },
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<Reply> {
  const fields = { connection: 'keep-alive', ...headers };
  const request = httpRequest({ host: '127.0.0.1', port: edge.port, path, headers: fields, method, agent: false });
  request.end();
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

/**
 * Sends bytes as they are and gives everything that comes back until the server closes the connection.
 *
 * @param next each is sent after the answer to those before it
 */
export async function converse(edge: { readonly port: number }, bytes: string, ...next: string[]): Promise<string> {
  const socket = connect(edge.port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk;
    const more = next.shift();
    if (more !== undefined) socket.write(more, 'latin1');
  });
  // A connection that is cut off ends the conversation as well as one that is closed.
  socket.on('error', () => {});
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return received;
}

/** A raw answer taken apart. */
export function parseReply(text: string): Reply {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine, ...lines] = text.slice(0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(': ');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 2);
  }
  return { status: Number(statusLine?.split(' ')[1]), headers, body: Buffer.from(text.slice(end + 4), 'latin1') };
}
