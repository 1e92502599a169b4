/** The market of the examples. It exists in this service, so that a copied command returns data. */
import { MARKETS_URL, marketUrl } from '../../../../contract/files/routes.ts';

/** The market that the documents name. */
export const DOCUMENTED_SLUG = 'gold-usd';

/** @param read GETs a public JSON file; null: there is no such file. @returns the documented one where there is another doubt */
export async function exampleSlug(read: (path: string) => Promise<unknown>): Promise<string> {
  const list = (await read(`${MARKETS_URL}.json`)) as {
    readonly data: readonly { readonly slug: string }[];
    readonly page: { readonly next: string | null };
  } | null;
  const [first] = list?.data ?? [];
  if (list === null || first === undefined) return DOCUMENTED_SLUG;
  if (list.data.some(({ slug }) => slug === DOCUMENTED_SLUG)) return DOCUMENTED_SLUG;
  const isOnLaterPage = list.page.next !== null && (await read(`${marketUrl(DOCUMENTED_SLUG)}.json`)) !== null;
  return isOnLaterPage ? DOCUMENTED_SLUG : first.slug;
}
