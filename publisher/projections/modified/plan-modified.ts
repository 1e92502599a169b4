/** Plans the file of the markets that have changed last. */
import { LATEST_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { lastModified, type ModifiedRow, modifiedCsv } from '../../../contract/files/modified.ts';
import type { Market } from '../../../contract/values/market.ts';
import { addFile } from '../../kernel/add-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';

function rowsOfPage(body: string): readonly ModifiedRow[] {
  const { data } = JSON.parse(body) as { readonly data: readonly Market[] };
  return data.map(({ slug, revision, updatedAt }) => ({ slug, revision, updatedAt }));
}

export async function planModified(context: PlanContext): Promise<ProjectionPlan> {
  const { before, isBehind } = context;
  const known = context.state as string | undefined;
  const isWanted = (markets: number) => markets <= LATEST_MARKETS_MAX;
  let isRead = false;
  let isPlanned = false;
  let digest = known;
  return {
    needsList: isBehind || isWanted(before?.list.markets ?? 0) !== (known !== undefined),
    ofPage(markets) {
      isRead = isWanted(markets);
      return isRead ? rowsOfPage : null;
    },
    async list({ entries }) {
      isPlanned = true;
      const text = isRead ? modifiedCsv(lastModified(entries as readonly ModifiedRow[])) : null;
      digest = text === null ? undefined : await addFile(context, { kind: 'modified' }, text, known);
    },
    finish: async () => ({ state: digest, isCurrent: isPlanned || !isBehind }),
  };
}
