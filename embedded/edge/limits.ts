/** What one client may cost the edge server, in time and memory. */

export interface EdgeLimits {
  /**
   * From the opening of a connection, or the first byte of a later request, to the end of the request; to the end of its
   * head where the handler times the body (divert.ts).
   */
  readonly requestTimeoutMs: number;
  /** How often the above is checked: a slow client is cut off at most this much later. */
  readonly checkIntervalMs: number;
  /**
   * Of a connection on which nothing moves: a sender that stalls, a reader that does not drain. Where the kernel has taken
   * some of an answer since the last look, node:http looks again after as long: the reader is cut off after at most twice
   * this.
   */
  readonly idleTimeoutMs: number;
  /** Between two requests of a connection. */
  readonly keepAliveTimeoutMs: number;
  /** Requests of one connection in hand at once. The one that reaches this is its last. */
  readonly maxPipelined: number;
  /** Further ones are closed as they are opened. */
  readonly maxConnections: number;
  /** Request line and header fields together. */
  readonly maxHeaderBytes: number;
  readonly maxHeaderCount: number;
  /** Bodies, compressed variants and what it takes to find them. */
  readonly maxCacheBytes: number;
  /** For one read of the object store. */
  readonly originDeadlineMs: number;
}

export const DEFAULT_EDGE_LIMITS: EdgeLimits = {
  requestTimeoutMs: 10_000,
  checkIntervalMs: 1_000,
  idleTimeoutMs: 30_000,
  // Longer than a minute, the usual polling interval and the usual idle limit of balancers, so that the other side
  // closes first and no request meets a closing socket.
  keepAliveTimeoutMs: 65_000,
  maxPipelined: 32,
  maxConnections: 4_096,
  maxHeaderBytes: 16_384,
  maxHeaderCount: 100,
  maxCacheBytes: 128 * 1024 * 1024,
  originDeadlineMs: 5_000,
};
