/**
 * Heads: the mutable bodies. Each carries the generation that wrote it, and is only ever swapped for a newer one.
 *
 * Safety: a swap names the ETag that was seen together with an older generation, so a request that lands late, after
 * someone else has swapped, is refused by the store. An ETag never comes back under a newer generation, because the
 * bytes of a head never do: a market's revision, a history's length and the snapshot's generation only grow. A market that
 * is defined again after its removal, as it was before, is the exception: a request that was under way all that time could
 * then put the body of before its removal, or be the sweep's and remove it, if it was sent before the market was defined
 * again (collect-garbage.ts). The market's next change or a rebuild puts the right one back.
 *
 * A static body can come back, when a deployment is undone: a request that was under way all that time could then put the
 * body of the deployment in between. A rebuild puts the right one back.
 *
 * What this cannot fence is the creation of a body that lands after a newer generation has removed the market and the sweep
 * its body: there is nothing left to compare with. No link leads to such a body, and the next sweep removes it
 * (collect-garbage.ts).
 */
import { parsePublicKey } from '../../contract/public-objects.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { ledgerBehind } from '../errors.ts';
import { publicMetadata } from './put-immutable.ts';

/** More rounds than publishers that could ever race for one head; past it something else is wrong. */
const MAX_ROUNDS = 20;

/** Puts a head body unless this generation has put it before. Throws {@link ledgerBehind} where a newer one is found. */
export async function fencedPut(
  objects: ObjectStore,
  generation: number,
  key: string,
  body: string,
  nextCursor: string | null,
): Promise<void> {
  const name = parsePublicKey(key);
  if (name === null) throw new RangeError(`${key} is not the key of a public object`);
  const metadata = publicMetadata(name, generation, nextCursor);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const present = await objects.stat(key);
    if (present?.metadata.generation === generation) return;
    if (present !== null && present.metadata.generation > generation) {
      throw ledgerBehind(key, present.metadata.generation, generation);
    }
    const condition = present ? ({ kind: 'matches', etag: present.etag } as const) : ({ kind: 'absent' } as const);
    if ((await objects.put(key, Buffer.from(body), metadata, condition)).kind === 'stored') return;
    // Somebody was quicker: look again.
  }
  throw new Error(`${key} could not be put in ${MAX_ROUNDS} rounds, although nothing newer is in place`);
}
