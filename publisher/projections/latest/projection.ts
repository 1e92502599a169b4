/** The newest price of every market, and its last ones, as files of the list's cadence. */
import { LIST_FILE_KINDS } from '../../../contract/files/public-object-names.ts';
import { PUBLIC_PREFIX } from '../../../contract/files/public-objects.ts';
import { LATEST_URL } from '../../../contract/files/routes.ts';
import type { Projector } from '../../kernel/projection.ts';

export const latest: Projector = {
  name: 'latest',
  kinds: LIST_FILE_KINDS,
  // An earlier version had all markets in one file.
  keys: [`${PUBLIC_PREFIX}${LATEST_URL}.csv`],
  check: async (context) => await (await import('./check.ts')).checkPrices(context),
  isInLog: true,
  plan: async (context) => await (await import('./plan-latest.ts')).planPrices(context),
  reachable: {
    unreachable: async (...asked) => await (await import('./reachable.ts')).unreachableLatest(...asked),
    async *published(...asked) {
      yield* (await import('./reachable.ts')).publishedLatest(...asked);
    },
  },
};
