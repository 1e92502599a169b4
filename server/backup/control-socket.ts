/** Where the control socket of a data folder is, and whether its server answers. Without the server's code: every command loads it. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { join, relative } from 'node:path';

const SOCKET = 'control.sock';
/** The kernel takes no longer path (unix(7)); on some systems, 103 bytes. */
const MAX_SOCKET_PATH_BYTES = 103;

/** A path from the working folder may be the only one that is short enough. */
export function socketOf(folder: string): string {
  const path = join(folder, SOCKET);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : relative('', path);
}

/**
 * Whether the folder's own server answers. Only the folder's owner can make the socket. So after a crash no other user can
 * pretend to be the server, as somebody could who takes its port.
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
