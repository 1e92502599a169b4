/**
 * The pages for people, which change with a deployment. HEAD has one digest of all of them. Their bodies are read only if
 * it differs, and only those are put that the last publication did not have. A file that the site no longer has is left
 * to the sweep. The first page shows the first markets, so it is made again with each list.
 */
import { FRONT_PAGE } from '../../../contract/files/front-page.ts';
import { SITE_KINDS } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';
import type { OwnedObject, PlanContext, Projector } from '../../kernel/projection.ts';
import { siteObject } from '../../site.ts';

/** SHA-256. `front`: absent until a list comes. */
interface State {
  readonly site: string;
  readonly front?: string;
}

export const pages: Projector = {
  name: 'pages',
  kinds: SITE_KINDS,
  check: async ({ reader, findings }) => {
    const { checkSite } = await import('./check-site.ts');
    return { end: async (list) => await checkSite(reader, findings, list) };
  },
  describe: {
    what: 'The pages for people.',
    paths: [],
  },
  async plan(context) {
    const { site } = context.dependencies;
    if (site === undefined) return { finish: async () => ({ state: context.state }) };
    // Another version may have put them at other paths.
    const known = context.isRenderedOtherwise ? undefined : (context.state as State | undefined);
    const isSame = site.digest === known?.site;
    const { planFrontPage } = await import('./plan-front-page.ts');
    const front = planFrontPage(context, site, isSame ? known?.front : undefined);
    return {
      ...front,
      async finish() {
        if (!isSame) await addChanged({ ...context, state: known?.site }, site);
        const digest = front.digest();
        return { state: { site: site.digest, ...(digest !== undefined && { front: digest }) } };
      },
    };
  },
  // An earlier version had no rows on the first page: it is one of the files of which nobody knows what is public.
  stateBefore: () => undefined,
  reachable: {
    async unreachable({ ledger }, objects) {
      const site = await ledger.get(PUBLISHED_SITE_KEY);
      const isLost = ({ name }: OwnedObject) =>
        name !== null && 'file' in name && !Object.hasOwn(site?.value ?? {}, name.file);
      return site === null ? [] : objects.filter(isLost).map(({ key }) => key);
    },
    async *published({ ledger }, state) {
      const site = state === undefined ? null : await ledger.get(PUBLISHED_SITE_KEY);
      for (const file of Object.keys(site?.value ?? {})) yield siteObject(file);
    },
  },
};

async function addChanged(
  { dependencies: { ledger }, state, files }: PlanContext,
  site: NonNullable<PlanContext['dependencies']['site']>,
): Promise<void> {
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
