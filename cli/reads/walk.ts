/** Walks over collections: public ones as the client does, and lists of the write API. */
import { type JsonReader, pageAt, type WalkedPage, walkHistory, walkMarkets } from '../../client/walks.ts';
import type { Market } from '../../contract/market.ts';
import type { PublicObservation } from '../../contract/metric.ts';
import { CommandError } from '../exit-codes.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';

export function allMarkets({ page }: Client): AsyncGenerator<Market> {
  return settled(walkMarkets(page));
}

/** Every version of every observation, newest first. */
export function allVersions({ page }: Client, slug: string): AsyncGenerator<PublicObservation> {
  return settled(walkHistory(page, slug, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY));
}

/** Its errors are those of a command. */
async function* settled<Item>(walk: AsyncGenerator<Item>): AsyncGenerator<Item> {
  try {
    yield* walk;
  } catch (error) {
    toCommandError(error);
  }
}

/** Of a list of the write API, whose cursors say nothing. */
const MOST_PAGES = 10_000;

/** The items of a list of the write API, page by page. @throws CommandError for a cursor that was there before */
export async function* walkList<Item>(client: Client, path: string): AsyncGenerator<Item> {
  const read: JsonReader = async (asked) => jsonOf(await client.call({ method: 'GET', path: asked }));
  const seen = new Set<string>();
  for (let cursor: string | null = null; ; ) {
    const { data, page }: WalkedPage<Item> = await pageAt<Item>(read, path, cursor).catch(toCommandError);
    yield* data;
    cursor = page.nextCursor;
    if (cursor === null) return;
    if (seen.has(cursor) || seen.size === MOST_PAGES) {
      throw new CommandError('unreachable', `The list ${path} does not end.`, 'Is the base URL that of Tidemark?');
    }
    seen.add(cursor);
  }
}
