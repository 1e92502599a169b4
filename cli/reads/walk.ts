/** Walks over collections: public ones through the client, and lists of the write API. */
import { below, pageOf } from '../../clients/typescript/public-files.ts';
import { TidemarkError } from '../../clients/typescript/tidemark-error.ts';
import { walkEntries, walkHistory, walkMarkets } from '../../clients/typescript/walks.ts';
import type { LatestEntry } from '../../contract/bodies/latest-entries.ts';
import { historyUrl } from '../../contract/files/routes.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import type { Client } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';
import { CommandError } from '../program/exit-codes.ts';

export function allMarkets({ files }: Client): AsyncGenerator<Market> {
  return settled(walkMarkets(files));
}

export function allEntries({ files }: Client): AsyncGenerator<LatestEntry> {
  return settled(walkEntries(files));
}

/** Every version of every observation, newest first. */
export function allVersions({ files }: Client, slug: string): AsyncGenerator<PublicObservation> {
  return settled(walkHistory(files, slug, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY));
}

/**
 * False for a market that is not public yet, or was removed. Asks for the file, because static hosts have no other path of the
 * history.
 */
export async function hasHistory({ files }: Client, slug: string): Promise<boolean> {
  try {
    await files.page(historyUrl(encodeURIComponent(slug)));
    return true;
  } catch (error) {
    if (error instanceof TidemarkError && (error.status === 404 || error.status === 410)) return false;
    return toCommandError(error);
  }
}

/** Turns the walk's errors into those of a command. */
async function* settled<Item>(walk: AsyncGenerator<Item>): AsyncGenerator<Item> {
  try {
    yield* walk;
  } catch (error) {
    toCommandError(error);
  }
}

/** The limit of pages in a list of the write API, whose cursors do not show an order. */
const MOST_PAGES = 10_000;

/** The items of a list of the write API, page by page, at most `most`. @throws CommandError if a cursor is repeated */
export function walkList<Item>(client: Client, path: string, most = Infinity): AsyncGenerator<Item> {
  return settled(listed<Item>(client, path, most));
}

async function* listed<Item>(client: Client, path: string, most: number): AsyncGenerator<Item> {
  const url = below(client.profile.writeUrl, path);
  const seen = new Set<string>();
  for (let [cursor, left]: [string | null, number] = [null, most]; ; ) {
    const query: string =
      cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    const value = (await client.resource({ path: path + query })) as { readonly page?: object };
    // The write API has cursors, but no links to files.
    const { data, page } = pageOf<Item>({ value: { ...value, page: { next: null, ...value.page } }, url });
    yield* data.slice(0, left);
    left -= data.length;
    cursor = page.nextCursor;
    if (cursor === null || left <= 0) return;
    if (seen.has(cursor) || seen.size === MOST_PAGES) {
      throw new CommandError('unreachable', `The list ${path} does not end.`, 'Is the base URL that of Tidemark?');
    }
    seen.add(cursor);
  }
}
