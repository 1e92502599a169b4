/** Plans the first page: with each list, from its first page alone. */

import { FRONT_PAGE } from '../../../contract/bodies/front-page.ts';
import { latestEntry } from '../../../contract/bodies/latest-entries.ts';
import type { Market } from '../../../contract/values/market.ts';
import { addFileIfChanged } from '../../kernel/add-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { type Site, siteObject } from '../../site.ts';
import { FRONT_ROWS, frontPage } from './front-page.ts';

type FrontPlan = Required<Pick<ProjectionPlan, 'needsList' | 'ofPage' | 'list'>> & {
  /** SHA-256 of the page; undefined: no list has come yet. */
  readonly digest: () => string | undefined;
};

const SLUG = '"slug":"';

/** @param known SHA-256 of the page that is published. Undefined: it must be made again */
export function planFrontPage(context: PlanContext, site: Site, known: string | undefined): FrontPlan {
  const { readBaseUrl = null, projections = new Set() } = context.dependencies;
  let digest = known;
  /** The page with the first slug. Pages come in any order, and to parse all of them would take long. */
  let first = { slug: '', body: '{"data":[]}' };
  return {
    needsList: FRONT_PAGE in site.files && (known === undefined || context.isBehind),
    ofPage: () => (body) => {
      const start = body.indexOf(SLUG) + SLUG.length;
      const slug = body.slice(start, body.indexOf('"', start));
      if (start >= SLUG.length && (first.slug === '' || slug < first.slug)) first = { slug, body };
      return [];
    },
    async list() {
      if (!(FRONT_PAGE in site.files)) return;
      const { data } = JSON.parse(first.body) as { readonly data: readonly Market[] };
      const entries = data.slice(0, FRONT_ROWS).map((market) => latestEntry(market, null));
      const text = frontPage(await site.read(FRONT_PAGE), { readBaseUrl, projections }, entries);
      digest = await addFileIfChanged(context, siteObject(FRONT_PAGE), text, known);
    },
    digest: () => digest,
  };
}
