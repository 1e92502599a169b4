/** How an edge stops: answers that are on their way get there, and no client can hold up the end. */
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionPool } from './connection-pool.ts';

/** The first request of a new connection may be on its way for so long. */
const SILENT_MS = 1_000;
const LOOK_EVERY_MS = 25;

/**
 * Stops listening, and closes each connection when it is idle. Resolves as soon as none is left: those that are left after
 * `graceMs` are cut off.
 */
export async function stopServer(server: Server, pool: ConnectionPool, graceMs: number): Promise<void> {
  let isClosed = false;
  const closed = new Promise<void>((resolve) => {
    // An error says that it does not listen.
    server.close(() => {
      isClosed = true;
      resolve();
    });
  });
  for (let waitedMs = 0; !isClosed && waitedMs < graceMs; waitedMs += LOOK_EVERY_MS) {
    pool.closeIdle(waitedMs >= SILENT_MS);
    await Promise.race([closed, sleep(LOOK_EVERY_MS)]);
  }
  pool.closeAll();
  await closed;
}
