/**
 * Plans the pages of one generation. HEAD has one digest of all files of the site: their bodies are read only if it differs, and only
 * those are put that the last publication did not have.
 */
import { FRONT_PAGE } from '../../../contract/bodies/front-page.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { type Site, siteObject } from '../../site.ts';
import { planFrontPage } from './plan-front-page.ts';

/** SHA-256. `front`: absent until a list comes. */
interface State {
  readonly site: string;
  readonly front?: string;
}

export async function planPages(context: PlanContext): Promise<ProjectionPlan> {
  const { site } = context.dependencies;
  if (site === undefined) return { finish: async () => ({ state: context.state }) };
  // Another version may have put them at other paths.
  const known = context.isRenderedOtherwise ? undefined : (context.state as State | undefined);
  const isSame = site.digest === known?.site;
  const front = planFrontPage(context, site, isSame ? known?.front : undefined);
  return {
    ...front,
    async finish() {
      if (!isSame) await addChanged({ ...context, state: known?.site }, site);
      const digest = front.digest();
      return { state: { site: site.digest, ...(digest !== undefined && { front: digest }) } };
    },
  };
}

async function addChanged({ dependencies: { ledger }, state, files }: PlanContext, site: Site): Promise<void> {
  // Without a state, nobody knows what is public: everything is put.
  const published = state === undefined ? {} : ((await ledger.get(PUBLISHED_SITE_KEY))?.value ?? {});
  for (const [file, digest] of Object.entries(site.files)) {
    // The list puts the first page.
    if (published[file] === digest || file === FRONT_PAGE) continue;
    const key = publicKey(siteObject(file));
    await files.add({ kind: 'put', key, body: await site.read(file), nextCursor: null });
  }
  await files.add({ kind: 'record', key: PUBLISHED_SITE_KEY, value: { ...site.files } });
}
