/**
 * The pages for people, which change with a deployment. The sweep removes a file that the site no longer has. The first
 * page shows the first markets, so it is made again with each list.
 */
import { SITE_KINDS } from '../../../contract/files/public-object-names.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';
import type { OwnedObject, Projector } from '../../kernel/projection.ts';
import { siteObject } from '../../site.ts';

export const pages: Projector = {
  name: 'pages',
  kinds: SITE_KINDS,
  check: async ({ reader, findings }) => {
    const { checkSite } = await import('./check-site.ts');
    return { end: async (list) => await checkSite(reader, findings, list) };
  },
  plan: async (context) => await (await import('./plan-pages.ts')).planPages(context),
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
