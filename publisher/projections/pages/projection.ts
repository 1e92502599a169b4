/**
 * The pages for people, which change with a deployment. HEAD has one digest of all of them. Their bodies are read only if
 * it differs, and only those are put that the last publication did not have. A file that the site no longer has is left
 * to the sweep.
 */
import { SITE_KINDS } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';
import type { OwnedObject, PlanContext, Projector } from '../../kernel/projection.ts';
import { siteObject } from '../../site.ts';

export const pages: Projector = {
  name: 'pages',
  kinds: SITE_KINDS,
  check: async ({ reader, findings }) => ({
    end: async () => await (await import('./check-site.ts')).checkSite(reader, findings),
  }),
  describe: {
    what: 'The pages for people.',
    paths: [],
  },
  async plan(context) {
    const { site } = context.dependencies;
    // Another version may have put them at other paths.
    const state = context.isRenderedOtherwise ? undefined : context.state;
    if (site === undefined || site.digest === state) return { finish: async () => ({ state: context.state }) };
    return {
      async finish() {
        await addChanged({ ...context, state }, site);
        return { state: site.digest };
      },
    };
  },
  stateBefore: ({ staticDigests }) => staticDigests.site,
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
    if (published[file] === digest) continue;
    const key = publicKey(siteObject(file));
    await files.add({ kind: 'put', key, body: await site.read(file), nextCursor: null });
  }
  await files.add({ kind: 'record', key: PUBLISHED_SITE_KEY, value: { ...site.files } });
}
