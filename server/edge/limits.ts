/** The limits on time and memory that one client of the edge server may use. */

export interface EdgeLimits {
  /** From the opening of a connection to the first byte, and from the first byte of a request to the end of its head. */
  readonly requestTimeoutMs: number;
  /** How often the limit above is checked: a slow client is cut off at most this much later. */
  readonly checkIntervalMs: number;
  /**
   * For a connection on which nothing moves: a sender that stalls, or a reader that does not read. If the kernel has
   * taken some of an answer since the last check, node:http checks again after the same time. So a reader is cut off
   * after at most twice this.
   */
  readonly idleTimeoutMs: number;
  /** Between two requests of a connection. */
  readonly keepAliveTimeoutMs: number;
  /** At the limit, the longest idle connection is closed (connections.ts). If all are busy, the new one is closed. */
  readonly maxConnections: number;
  /** Request line and header fields together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderCount: number;
  /** Bodies, their compressed forms and the memory for finding them. */
  readonly maxCacheBytes: number;
  /** For one read of the object store. */
  readonly originDeadlineMs: number;
  /** For the answers that are on their way when the edge stops. */
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
  // Half of the ten seconds that `docker stop` gives: a running publication needs some, too.
  stopGraceMs: 5_000,
};
