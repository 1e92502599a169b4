/** How often the embedded server publishes: docs/decisions/013 says why. */
import { MARKETS_PAGE_SIZE } from '../contract/limits.ts';
import { defaultListEverySeconds } from '../publisher/dependencies.ts';

/** Readers' caches are fresh for 15 s: under steady writes more generations than this would only fill the disk. */
export const PUBLISH_PACE_MS = 1_000;

const LONGEST_SECONDS = 60;

/**
 * A second for each page, up to a minute; from 100,000 markets on as everywhere. Every list leaves the pages of the one before on
 * the disk for a day, so a list that came with every generation would soon take more than all that it lists.
 */
export function listEverySeconds(markets: number): number {
  const pages = Math.ceil(markets / MARKETS_PAGE_SIZE);
  // The first page is swapped, and leaves nothing.
  if (pages <= 1) return 0;
  return Math.max(Math.min(pages, LONGEST_SECONDS), defaultListEverySeconds(markets));
}
