/** Plans the file of the markets that have changed last. */
import { lastModified, type ModifiedRow, modifiedCsv } from '../../../contract/bodies/modified.ts';
import type { Market } from '../../../contract/values/market.ts';
import { addFileIfChanged } from '../../kernel/add-file.ts';
import { planListFile } from '../../kernel/list-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';

function rowsOfPage(body: string): readonly ModifiedRow[] {
  const { data } = JSON.parse(body) as { readonly data: readonly Market[] };
  return data.map(({ slug, revision, updatedAt }) => ({ slug, revision, updatedAt }));
}

export async function planModified(context: PlanContext): Promise<ProjectionPlan> {
  const known = context.state as string | undefined;
  return planListFile<ModifiedRow>(context, {
    rowsOfPage,
    planned: async (rows) =>
      await addFileIfChanged(context, { kind: 'modified' }, modifiedCsv(lastModified(rows)), known),
  });
}
