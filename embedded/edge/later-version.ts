/**
 * Requests of a later minor version of HTTP/1 are processed as HTTP/1.1 (RFC 9112, section 2.3). The parser of node:http
 * refuses them, so they are parsed again with the version that it knows, as the last request of their connection.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ClientError } from './client-errors.ts';

const LATER = /^([^\r\n ]+ [^\r\n ]+ HTTP\/1\.)[2-9]\r\n/;

/** The parser's socket cannot be told to wait, so a sender that is faster than the handler is cut off here. */
const UNREAD_MAX_BYTES = 256 * 1024;

export interface LaterVersions {
  /** Whether the error is about such a request, or the rest of one. Then nothing more needs to be done about it. */
  take(error: ClientError, socket: Duplex): boolean;
}

/** @param mayBegin whether nothing else is to be sent on the connection first */
export function createLaterVersions(server: Server, mayBegin: (socket: Duplex) => boolean): LaterVersions {
  const replays = new WeakMap<Duplex, Duplex>();

  function take({ code, rawPacket, bytesParsed = 0 }: ClientError, socket: Duplex): boolean {
    const replay = replays.get(socket);
    // The parser reports everything that follows in the same way, and the timers report too.
    if (replay !== undefined) {
      if (rawPacket !== undefined) replay.push(rawPacket);
      if (replay.readableLength > UNREAD_MAX_BYTES) socket.destroy();
      return true;
    }
    if (code !== 'HPE_INVALID_VERSION' || rawPacket === undefined || !mayBegin(socket)) return false;
    // Earlier requests of the packet may have been answered.
    const start = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1;
    const text = rawPacket.toString('latin1', start);
    if (!LATER.test(text)) return false;
    const begun = openReplay(socket as Socket);
    replays.set(socket, begun);
    begun.push(Buffer.from(text.replace(LATER, '$11\r\nConnection: close\r\n'), 'latin1'));
    server.emit('connection', begun);
    return true;
  }

  return { take };
}

/** A connection that writes to the socket and reads what is pushed. */
function openReplay(socket: Socket): Duplex {
  const replay = new Duplex({
    read() {},
    write: (chunk, _, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  socket.once('close', () => replay.destroy());
  return Object.assign(replay, { remoteAddress: socket.remoteAddress });
}
