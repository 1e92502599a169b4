/** A sound published world, for tests that damage it. */
import { publish } from '../../../publisher/publish.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import type { VerifyRule } from '../../../publisher/verify/report.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES, START_MS, type World } from '../world.ts';
import type { Loose } from './damaged-reader.ts';

export const MARKETS = '/api/v1/markets';
export const SNAPSHOT = '/api/v1/snapshot';
export const marketOf = (slug: string): string => `${MARKETS}/${slug}`;
export const historyOf = (slug: string): string => `${MARKETS}/${slug}/history`;

/**
 * Three list pages: a b c | d e f | g. `a` has no observation, `b` has 10 on three pages, `e` one unknown value, `f` one
 * with a correction.
 */
export async function goodWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((slug) => market(slug)));
  await world.ingest(Array.from({ length: 10 }, (_, day) => price('b', day, 100 + day)));
  await world.ingest([price('e', 0, null), price('f', 0, 7)]);
  await world.ingest([price('f', 0, 8)], 'correct');
  await publish(world.dependencies);
  return world;
}

const world = await goodWorld();
export const reader = readerOf(world.objects);

/** The URLs of a collection's pages. */
async function pagesOf(firstUrl: string): Promise<readonly string[]> {
  const urls = [firstUrl];
  for (;;) {
    const response = await reader(urls.at(-1) as string);
    const cursor = (JSON.parse(Buffer.from(response.body).toString('utf8')) as Loose).page.nextCursor;
    if (cursor === null) return urls;
    urls.push(`${firstUrl}?cursor=${cursor}`);
  }
}

export const [, SECOND_LIST_PAGE, LAST_LIST_PAGE] = (await pagesOf(MARKETS)) as [string, string, string];
export const [, CLOSED_PAGE, OLDEST_PAGE] = (await pagesOf(historyOf('b'))) as [string, string, string];
export const cursorOf = (url: string): string => url.split('=')[1] as string;

/** The broken rules, each once, in order. */
export async function rulesFound(damaged: PublicReader, settled = true): Promise<readonly VerifyRule[]> {
  const { findings } = await verify(damaged, { pageSizes: SMALL_PAGES, settled, nowMs: START_MS });
  return [...new Set(findings.map(({ rule }) => rule))].sort();
}
