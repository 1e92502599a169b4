/** A projection of one file that is made from the list: its plan, and its reachability. */
import { LATEST_MARKETS_MAX } from '../../contract/files/limits.ts';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { PlanContext, ProjectionPlan, Reachability } from './projection.ts';

/** @param isThere whether there is a file, by the state. Default: if there is a state */
export function singleFileReachability(
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

export interface ListFile<Row> {
  rowsOfPage(body: string): readonly Row[];
  /** Whether the file would change although the list has not. Default: it would not. */
  readonly isStale?: boolean;
  /** Plans the file. @returns the projection's next state; undefined: there is no file */
  planned(rows: readonly Row[]): Promise<Json | undefined>;
}

/** There is a file while the list has at most {@link LATEST_MARKETS_MAX} markets. It is planned anew with each list. */
export function planListFile<Row>(
  { before, isBehind, state: known }: PlanContext,
  { rowsOfPage, isStale = false, planned }: ListFile<Row>,
): ProjectionPlan {
  const isWanted = (markets: number) => markets <= LATEST_MARKETS_MAX;
  const wasWanted = isWanted(before?.list.markets ?? 0);
  let isRead = false;
  let isPlanned = false;
  let state = known;
  return {
    needsList: isBehind || wasWanted !== (known !== undefined) || (wasWanted && isStale),
    ofPage(markets) {
      isRead = isWanted(markets);
      return isRead ? rowsOfPage : null;
    },
    async list({ entries }) {
      isPlanned = true;
      state = isRead ? await planned(entries as readonly Row[]) : undefined;
    },
    finish: async () => ({ state, isCurrent: isPlanned || !isBehind }),
  };
}
