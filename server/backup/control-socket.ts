/** The control socket of a data folder, for commands. Every command loads it, so it needs no server code. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { StartError } from '../service/start-error.ts';
import { checkFileIsPrivate } from '../settings/private-files.ts';

export const DEFAULT_DATA_FOLDER = '.tidemark';
/** Answers with the base URL of the server. */
export const ADDRESS_URL_PATH = '/address';

const SOCKET = 'control.sock';
/** The longest path of a Unix socket (unix(7)). Some systems allow only 103 bytes. */
const MAX_SOCKET_PATH_BYTES = 103;

/** A relative path may be short enough where the absolute path is not. */
export function socketOf(folder: string): string {
  const path = join(folder, SOCKET);
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? path : relative('', path);
}

/** Null: no process answers. @throws StartError if the socket belongs to another user */
export async function askControl(
  folder: string,
  path: string,
  body = '',
): Promise<{ readonly asking: ClientRequest; readonly answer: IncomingMessage } | null> {
  const socketPath = socketOf(folder);
  checkFileIsPrivate(socketPath);
  const asking = request({ socketPath, path, method: 'POST' });
  asking.end(body);
  try {
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    return { asking, answer };
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw new StartError(`${socketPath} belongs to another user: run this command as the user of the server.`);
  }
}

/**
 * The base URL of the server that runs in the folder; null: none answers. Keys are sent to this address. Only the folder's owner
 * can create the socket, so no other user can pretend to be the server, as a process could that takes over its port.
 *
 * @throws StartError if another user may have put the socket there
 */
export async function serverOf(folder: string): Promise<string | null> {
  const asked = await askControl(folder, ADDRESS_URL_PATH);
  if (asked === null) return null;
  const answer = await text(asked.answer);
  // A server of an earlier version does not know the request.
  return asked.answer.statusCode === 200 ? answer : null;
}
