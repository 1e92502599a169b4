/** The objects of the writing child. Its parent can distinguish a whole object from a torn one. */
import type { ObjectMetadata } from '../../storage/ports/object-store.ts';

export const bodyOfGeneration = (generation: number): Uint8Array =>
  new TextEncoder().encode(`${generation} `.repeat(1 + ((generation * 997) % 20_000)));

export const writeMetadata = (generation: number): ObjectMetadata => ({
  contentType: 'text/plain',
  cacheControl: 'no-store',
  cacheTag: null,
  generation,
  nextCursor: null,
});
