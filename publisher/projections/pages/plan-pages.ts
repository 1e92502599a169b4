/**
 * Plans the pages of one generation. HEAD has one digest of all files of the site: they are read only if it differs, and
 * only changed files are put. The first page is planned with each list, from the list's first page alone.
 */
import { FRONT_PAGE } from '../../../contract/bodies/front-page.ts';
import { latestEntry } from '../../../contract/bodies/latest-entries.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';
import { addFileIfChanged } from '../../kernel/files/add-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { type Site, siteObject } from '../../site.ts';
import { FRONT_ROWS, frontPage } from './front-page.ts';

/** SHA-256. `front` is absent until the first list. */
interface State {
  readonly site: string;
  readonly front?: string;
}

export async function planPages(context: PlanContext): Promise<ProjectionPlan> {
  const { site, readBaseUrl = null, projections = new Set() } = context.dependencies;
  if (site === undefined) return { finish: async () => ({ state: context.state }) };
  // Another version may have used other paths.
  const known = context.isRenderedOtherwise ? undefined : (context.state as State | undefined);
  const isSame = site.digest === known?.site;
  const knownFront = isSame ? known?.front : undefined;
  let front = knownFront;
  return {
    needsList: FRONT_PAGE in site.files && (knownFront === undefined || context.isBehind),
    async list({ pages, markets }) {
      if (!(FRONT_PAGE in site.files)) return;
      let first = '';
      for await (first of pages()) break;
      const { data } = JSON.parse(first) as { readonly data: readonly Market[] };
      const entries = data.slice(0, FRONT_ROWS).map((market) => latestEntry(market, null));
      const text = frontPage(await site.read(FRONT_PAGE), { readBaseUrl, projections, markets }, entries);
      front = await addFileIfChanged(context, siteObject(FRONT_PAGE), text, knownFront);
    },
    async finish() {
      if (!isSame) await addChanged({ ...context, state: known?.site }, site);
      return { state: { site: site.digest, ...(front !== undefined && { front }) } };
    },
  };
}

async function addChanged({ dependencies: { ledger }, state, files }: PlanContext, site: Site): Promise<void> {
  // Without a state, the published files are unknown: everything is put.
  const published = state === undefined ? {} : ((await ledger.get(PUBLISHED_SITE_KEY))?.value ?? {});
  for (const [file, digest] of Object.entries(site.files)) {
    // The list's plan puts the first page.
    if (published[file] === digest || file === FRONT_PAGE) continue;
    const key = publicKey(siteObject(file));
    await files.add({ kind: 'put', key, body: await site.read(file), nextCursor: null });
  }
  await files.add({ kind: 'record', key: PUBLISHED_SITE_KEY, value: { ...site.files } });
}
