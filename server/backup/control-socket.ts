/**
 * Finds the control socket of a data folder, and checks whether its server answers. Every command loads it, so it needs no
 * server code.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join, relative } from 'node:path';

const SOCKET = 'control.sock';
/** The longest path of a Unix socket (unix(7)). Some systems allow only 103 bytes. */
const MAX_SOCKET_PATH_BYTES = 103;

/** A relative path may be short enough where the absolute path is not. */
export function socketOf(folder: string): string {
  const path = join(folder, SOCKET);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : relative('', path);
}

/**
 * Whether the folder's own server answers. Only the folder's owner can create the socket. So after a crash no other user can
 * pretend to be the server, as a process could that takes over its port.
 */
export async function hasControl(folder: string): Promise<boolean> {
  const asking = request({ socketPath: socketOf(folder), path: '/' });
  asking.end();
  try {
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    answer.resume();
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}
