/** A body with its digest. */
import { PICTURE_TYPE } from '../../../contract/files/public-objects.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';

export interface Rendered {
  readonly body: string;
  /** SHA-256 in hex. */
  readonly digest: string;
}

/** The bytes of a body. A picture is carried as base64 text. */
export function bytesOfBody(body: string, contentType: string): Buffer {
  return Buffer.from(body, contentType === PICTURE_TYPE ? 'base64' : 'utf8');
}

export function rendered(body: string): Rendered {
  return { body, digest: sha256Hex(body) };
}

/**
 * ETags for the records of the published state: the next put names them, and needs no read first. Empty if the store does
 * not derive ETags.
 */
export function etagsOf<Name extends string>(
  { etagOf }: Pick<ObjectStore, 'etagOf'>,
  bodies: { readonly [Key in Name]: string | Buffer },
): { readonly etags?: { [Key in Name]: string } } {
  if (etagOf === undefined) return {};
  const etags = Object.entries<string | Buffer>(bodies).map(([name, body]) => [name, etagOf(Buffer.from(body))]);
  return { etags: Object.fromEntries(etags) };
}
