/** Reads the body of a response within limits, and removes its content coding. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

/** The body has more bytes than the recipe allows. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** The server has used a content coding that was not requested. */
export class UnknownCoding extends Error {
  override readonly name = 'UnknownCoding';
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
};

/**
 * Ends the connection as soon as the limit is exceeded, by the received bytes or by the decoded ones. So a small body that
 * decodes to a huge one uses at most the limit in memory.
 *
 * @throws TooLarge, UnknownCoding, and the errors of the connection and of zlib
 */
export async function decodedBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const coding = response.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  const createDecoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  try {
    if (createDecoder === undefined && coding !== 'identity') {
      // Only a name is shown: the host has chosen the text, and may repeat a secret in it.
      const shown = /^[a-z]{2,10}$/.test(coding) ? coding : 'another';
      throw new UnknownCoding(`its coding (${shown}) was not asked for`);
    }
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
    const sent = bounded(response, maxBytes);
    const body =
      createDecoder === undefined
        ? sent
        : // An error of either stream is thrown where the last one is read.
          bounded(pipeline(sent, createDecoder(), () => {}) as AsyncIterable<Uint8Array>, maxBytes);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  } finally {
    response.destroy();
  }
}

async function* bounded(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    if (count > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

function tooLarge(maxBytes: number): TooLarge {
  return new TooLarge(`the body has more than ${maxBytes} bytes, the limits.maxBytes of the recipe`);
}
