/** A body with its digest. */
import { PICTURE_TYPE } from '../../contract/files/public-objects.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';

export interface Rendered {
  readonly body: string;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/** Those of a picture are base64 in a text. */
export function bytesOfBody(body: string, contentType: string): Buffer {
  return Buffer.from(body, contentType === PICTURE_TYPE ? 'base64' : 'utf8');
}

export function rendered(body: string): Rendered {
  return { body, digest: sha256Hex(body) };
}
