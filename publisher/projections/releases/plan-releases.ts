/** Plans the calendar of expected releases. */
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { addFileIfChanged } from '../../kernel/add-file.ts';
import { planListFile } from '../../kernel/list-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { calendarText, type Release, Releases } from './calendar.ts';

/** `shows`: SHA-256 of what the calendar is made of. `digest`: of the file. Absent: there is no event. */
export interface ReleasesState {
  readonly shows: string;
  readonly digest?: string;
}

function releasesOfPage(body: string): readonly Release[] {
  const found = new Releases();
  for (const market of (JSON.parse(body) as { readonly data: readonly Market[] }).data) found.add(market);
  return found.all;
}

export async function planReleases(context: PlanContext): Promise<ProjectionPlan> {
  const { dependencies, before } = context;
  const known = context.state as unknown as ReleasesState | undefined;
  const origin = dependencies.log?.origin ?? 'Tidemark';
  const planned = async (rows: readonly Release[]): Promise<ReleasesState> => {
    const all = new Releases(rows).all;
    const shows = sha256Hex(`${origin}\n${canonicalJson(all as unknown as Json)}`);
    if (shows === known?.shows && before?.list.isDoubtful !== true) return known;
    const text = calendarText(all, origin);
    return text === null
      ? { shows }
      : { shows, digest: await addFileIfChanged(context, { kind: 'releases' }, text, known?.digest) };
  };
  return planListFile<Release>(context, {
    rowsOfPage: releasesOfPage,
    planned: async (rows) => ({ ...(await planned(rows)) }),
  });
}
