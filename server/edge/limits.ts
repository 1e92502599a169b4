/** The limits on time and memory that one client of the edge server may use. */

export interface EdgeLimits {
  /**
   * The longest time from opening a connection to the first byte, and from the first byte of a request to the end of its head.
   */
  readonly requestTimeoutMs: number;
  /** How often the limit above is checked: a slow client is cut off at most this much later. */
  readonly checkIntervalMs: number;
  /**
   * The longest time without progress on a connection, from a sender that stalls or a reader that does not read. If the kernel
   * has taken part of an answer since the last check, node:http checks again after the same time. So a reader is cut off after
   * at most twice this time.
   */
  readonly idleTimeoutMs: number;
  /** The longest time between two requests of a connection. */
  readonly keepAliveTimeoutMs: number;
  /** At the limit, the longest idle connection is closed (connections.ts). If all are busy, the new one is closed. */
  readonly maxConnections: number;
  /** The limit of request line and header fields together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderCount: number;
  /** The limit of bodies, their compressed forms and the memory for finding them. */
  readonly maxCacheBytes: number;
  /** The time limit of one read of the object store. */
  readonly originDeadlineMs: number;
  /** The time for current answers when the edge stops. */
  readonly stopGraceMs: number;
}

export const DEFAULT_EDGE_LIMITS: EdgeLimits = {
  requestTimeoutMs: 10_000,
  checkIntervalMs: 1_000,
  idleTimeoutMs: 30_000,
  // Longer than a minute, which is the usual polling interval and the usual idle limit of load balancers. So the other
  // side closes first, and no request meets a closing socket.
  keepAliveTimeoutMs: 65_000,
  maxConnections: 4_096,
  maxHeaderBytes: 16_384,
  maxHeaderCount: 100,
  maxCacheBytes: 128 * 1024 * 1024,
  originDeadlineMs: 5_000,
  // Half of the ten seconds that `docker stop` gives, because a running publication needs time, too.
  stopGraceMs: 5_000,
};
