/** The newest value of every market, from the pages of the list, in its cadence. */
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { LATEST_MARKETS_MAX, type LatestEntry, latestCsv, latestEntry } from '../../contract/latest.ts';
import type { Market } from '../../contract/market.ts';
import { publicKey } from '../../contract/public-objects.ts';
import type { ListState } from '../../storage/records/publication.ts';
import type { BundleWriter } from '../commit/bundle.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { rendered } from './render.ts';
import { shownDigest } from './shown-digest.ts';

/** Whether a list of this many markets is published as these files too. */
export function hasLatest({ projections }: Pick<PublisherStorage, 'projections'>, markets: number): boolean {
  return projections?.has('latest') === true && markets <= LATEST_MARKETS_MAX;
}

/** The entries of a page of the list. */
export function latestOfPage(body: string): readonly LatestEntry[] {
  return (JSON.parse(body) as { readonly data: readonly Market[] }).data.map(latestEntry);
}

/** Adds the files that have changed. Returns the SHA-256 of each, in hex. */
export async function addLatest(
  storage: PublisherStorage,
  bundle: BundleWriter,
  entries: readonly LatestEntry[],
  before: ListState | null,
): Promise<NonNullable<ListState['latest']>> {
  const put = async (kind: 'latest' | 'latest-csv', text: string, known: string | undefined): Promise<string> => {
    const { body, digest } = rendered(text);
    const shown = before?.isDoubtful ? await shownDigest(storage.objects, { kind }) : known;
    if (digest !== shown) await bundle.add({ kind: 'put', key: publicKey({ kind }), body, nextCursor: null });
    return digest;
  };
  const json = await put('latest', canonicalJson({ data: entries } as unknown as Json), before?.latest?.json);
  return { json, csv: await put('latest-csv', latestCsv(entries), before?.latest?.csv) };
}
