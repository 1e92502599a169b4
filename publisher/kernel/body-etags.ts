/** ETags of bodies, for the records of what is published: the next put names them, and need not look first. */
import type { ObjectStore } from '../../storage/ports/object-store.ts';

/** Nothing if the store cannot tell. */
export function etagsOf<Name extends string>(
  { etagOf }: Pick<ObjectStore, 'etagOf'>,
  bodies: { readonly [Key in Name]: string | Buffer },
): { readonly etags?: { [Key in Name]: string } } {
  if (etagOf === undefined) return {};
  const etags = Object.entries<string | Buffer>(bodies).map(([name, body]) => [name, etagOf(Buffer.from(body))]);
  return { etags: Object.fromEntries(etags) };
}
