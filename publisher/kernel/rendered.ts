/** A body with its digest. */
import { sha256Hex } from '../../storage/ports/sha256.ts';

export interface Rendered {
  readonly body: string;
  /** SHA-256 in hex. */
  readonly digest: string;
}

export function rendered(body: string): Rendered {
  return { body, digest: sha256Hex(body) };
}
