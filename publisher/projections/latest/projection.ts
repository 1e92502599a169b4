/** The newest price of every market, and its last ones, as files of the list's cadence. */

import { LIST_FILE_KINDS, type PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { LATEST_CSV_URL, LATEST_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import type { Projector } from '../../kernel/projection.ts';
import type { LatestState } from './plan-latest.ts';

export const latest: Projector = {
  name: 'latest',
  kinds: LIST_FILE_KINDS,
  check: async (context) => await (await import('./check.ts')).checkPrices(context),
  isInLog: true,
  describe: {
    what: 'The newest price of every market, and its last ones.',
    paths: [LATEST_URL, LATEST_CSV_URL, RECENT_URL],
  },
  plan: async (context) => await (await import('./plan-latest.ts')).planPrices(context),
  reachable: {
    async unreachable(_storage, objects, state) {
      const shown = namesOf(state).map(publicKey);
      return objects.flatMap(({ key }) => (shown.includes(key) ? [] : [key]));
    },
    async *published(_storage, state) {
      yield* namesOf(state);
    },
  },
};

function namesOf(state: Json | undefined): readonly PublicObjectName[] {
  return LIST_FILE_KINDS.filter((kind) => Object.hasOwn((state ?? {}) as LatestState, kind)).map((kind) => ({ kind }));
}
