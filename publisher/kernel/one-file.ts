/** The reachability of a projection of one file. */
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Reachability } from './projection.ts';

/** @param isThere whether there is a file, by the state. Default: if there is a state */
export function oneFile(
  name: PublicObjectName,
  isThere = (state: Json | undefined): boolean => state !== undefined,
): Reachability {
  return {
    unreachable: async (_storage, objects, state) => (isThere(state) ? [] : objects.map(({ key }) => key)),
    async *published(_storage, state) {
      if (isThere(state)) yield name;
    },
  };
}
