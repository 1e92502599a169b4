/** The entry of the thread of a BatchReader: reads small objects, batch by batch, with calls that wait for the disk. */
import { type MessagePort, parentPort } from 'node:worker_threads';
import { readSmallObjectFile } from './object-file.ts';
import type { ETag, ObjectHead } from './object-store.ts';

/** Reads that came together: a place in each array for each of them. */
export interface ReadBatch {
  readonly paths: readonly string[];
  readonly keys: readonly string[];
  /** Of the version that the reader has. */
  readonly etags: readonly (ETag | undefined)[];
}

export interface ReadAnswers {
  /** Null: to be read by the usual reader. It is large, or there is a fault, or there is no object. */
  readonly heads: readonly (ObjectHead | 'not-modified' | null)[];
  /** Of all heads, one after the other. */
  readonly bodies: Uint8Array;
}

function answersTo({ paths, keys, etags }: ReadBatch): ReadAnswers {
  const bodies: Uint8Array[] = [];
  const heads = paths.map((path, index) => {
    const found = readSmallObjectFile(path, keys[index] as string, etags[index]);
    if (found === null) return null;
    if (found.kind === 'not-modified') return found.kind;
    const { body, etag, sizeBytes, metadata } = found;
    bodies.push(body);
    return { etag, sizeBytes, metadata };
  });
  // Of its own: a part of a shared buffer would be sent with all of that.
  return { heads, bodies: joined(bodies) };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = Buffer.allocUnsafeSlow(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.byteLength;
  }
  return all;
}

const port = parentPort as MessagePort;
port.on('message', (batch: ReadBatch) => port.postMessage(answersTo(batch)));
port.postMessage('ready');
