/** The control socket of a data folder, for commands. Every command loads it, so it needs no server code. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join, relative } from 'node:path';

const SOCKET = 'control.sock';
/** The longest path of a Unix socket (unix(7)). Some systems allow only 103 bytes. */
const MAX_SOCKET_PATH_BYTES = 103;

/** A relative path may be short enough where the absolute path is not. */
export function socketOf(folder: string): string {
  const path = join(folder, SOCKET);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : relative('', path);
}

/** Rejects if no process answers. */
export async function askControl(
  folder: string,
  path: string,
  body = '',
): Promise<{ readonly asking: ClientRequest; readonly answer: IncomingMessage }> {
  const asking = request({ socketPath: socketOf(folder), path, method: 'POST' });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return { asking, answer };
}

/** Whether the error says that the socket belongs to another user. */
export function isOfAnotherUser({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

/**
 * Whether the folder's own server answers. Only the folder's owner can create the socket. So after a crash no other user can
 * pretend to be the server, as a process could that takes over its port.
 */
export async function hasControl(folder: string): Promise<boolean> {
  try {
    (await askControl(folder, '/')).answer.resume();
    return true;
  } catch (error) {
    return isOfAnotherUser(error as NodeJS.ErrnoException);
  }
}
