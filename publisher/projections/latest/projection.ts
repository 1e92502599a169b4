/** The newest price of every market, and its last ones, as files of the list's cadence. */

import type { LatestEntry } from '../../../contract/files/latest-entries.ts';
import { LIST_FILE_KINDS, type PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { LATEST_CSV_URL, LATEST_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import { type NewestPrices, newestPrices } from '../../core/bodies/recent-prices.ts';
import type { PlanContext, ProjectionPlan, Projector } from '../../kernel/projection.ts';
import { NO_PART } from '../../kernel/projection.ts';
import { addLatest, hasLatest, hasRecent, type LatestState, latestOfPage } from './plan-latest.ts';

export const latest: Projector = {
  name: 'latest',
  kinds: LIST_FILE_KINDS,
  check: async (context) => (await import('./check.ts')).checkPrices(context),
  checkLogged: async (context) => (await import('./check-logged.ts')).checkLoggedPrices(context),
  describe: {
    what: 'The newest price of every market, and its last ones.',
    paths: [LATEST_URL, LATEST_CSV_URL, RECENT_URL],
  },
  plan,
  reachable: {
    async unreachable(_storage, objects, state) {
      const shown = namesOf(state).map(publicKey);
      return objects.flatMap(({ key }) => (shown.includes(key) ? [] : [key]));
    },
    async *published(_storage, state) {
      yield* namesOf(state);
    },
  },
  stateBefore: ({ list: { latest: files, recent } }) =>
    files === undefined && recent === undefined
      ? undefined
      : { ...(files && { latest: files }), ...(recent !== undefined && { recent }) },
};

function namesOf(state: Json | undefined): readonly PublicObjectName[] {
  const { latest: files, recent } = (state ?? {}) as LatestState;
  return [
    ...(files === undefined ? [] : ([{ kind: 'latest' }, { kind: 'latest-csv' }] as const)),
    ...(recent === undefined ? [] : ([{ kind: 'recent' }] as const)),
  ];
}

async function plan({
  dependencies,
  before,
  state,
  isBehind,
  isRenderedOtherwise,
  files,
}: PlanContext): Promise<ProjectionPlan> {
  const { projections } = dependencies;
  const isOn = projections?.has('latest') === true || projections?.has('recent') === true;
  const known = (state ?? {}) as LatestState;
  let next: LatestState = known;
  let isPlanned = false;
  /** Also of an unchanged market: its history may have been lost, and is not in the store before this generation is. */
  const newest = new Map<string, NewestPrices>();
  return {
    needsList: isBehind || !isRight(dependencies, before?.list.markets ?? 0, known, isRenderedOtherwise),
    async market({ view }) {
      if (!isOn || !view.isShown) return undefined;
      return {
        async finish(history) {
          const prices = newestPrices(history, view.record?.value.unit.quantity ?? 1);
          return { ...NO_PART, taken: () => newest.set(view.slug, prices) };
        },
      };
    },
    ofPage: (markets) => (hasLatest(dependencies, markets) || hasRecent(dependencies, markets) ? latestOfPage : null),
    async list({ entries, changed, isPreviousKnown }) {
      isPlanned = true;
      const isTrusted = isPreviousKnown && !isBehind && before?.list.isDoubtful !== true;
      next = await addLatest(dependencies, files, {
        entries: entries as readonly LatestEntry[],
        changed,
        newest,
        before: known,
        isTrusted,
      });
    },
    finish: async () => ({
      state: Object.keys(next).length === 0 ? undefined : { ...next },
      isCurrent: isPlanned || !isBehind,
    }),
  };
}

/** Whether the newest prices are published if, and only if, they should be, as this version publishes them. */
function isRight(
  dependencies: PlanContext['dependencies'],
  markets: number,
  { latest: files, recent }: LatestState,
  isRenderedOtherwise: boolean,
): boolean {
  const isLatest = hasLatest(dependencies, markets);
  const isRecent = hasRecent(dependencies, markets);
  if (isLatest !== (files !== undefined) || isRecent !== (recent !== undefined)) return false;
  return !(isLatest || isRecent) || !isRenderedOtherwise;
}
