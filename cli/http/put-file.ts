/** Sends a file to the target of an upload as a stream: `fetch` would hold the whole file in memory. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../program/exit-codes.ts';

/** A connection without any transfer for this time is dead. */
const SILENT_MS = 60_000;

/**
 * Resolves to the status and the text of the answer. No key is sent: the URL itself is the credential.
 *
 * @param progress receives the number of sent bytes
 * @throws CommandError `unreachable` if there is no answer
 */
export async function putFile(
  url: URL,
  headers: Readonly<Record<string, string>>,
  path: string,
  progress: (bytes: number) => void,
): Promise<{ readonly status: number; readonly text: string }> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = send(url, { method: 'PUT', headers });
  request.setTimeout(SILENT_MS, () => request.destroy(new Error('no byte moves any more')));
  try {
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    let bytes = 0;
    const file = createReadStream(path).on('data', (chunk) => {
      bytes += chunk.length;
      progress(bytes);
    });
    // The server may refuse the file, and close the connection, before the whole file is sent.
    const sent = pipeline(file, request).catch((error: unknown) => error);
    const [response] = await answered;
    response.setEncoding('utf8');
    let text = '';
    for await (const piece of response) if (text.length < 10_000) text += piece;
    await sent;
    return { status: response.statusCode ?? 0, text };
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw new CommandError('unreachable', `PUT to ${url.origin} got no answer: ${reason}.`, null, { cause });
  }
}
