/** How often the embedded server publishes: docs/decisions/013 gives the reasons. */
import { MARKETS_PAGE_SIZE } from '../../contract/files/limits.ts';
import { defaultListEverySeconds } from '../../publisher/dependencies.ts';

/** Readers' caches are fresh for 15 s. Under steady writes, more generations would only fill the disk. */
export const PUBLISH_PACE_MS = 1_000;

const LONGEST_SECONDS = 60;

/**
 * One second for each page, up to a minute; from 100,000 markets on as everywhere. Every new list leaves superseded
 * pages on the disk for a day. A list with every generation would soon take more space than everything that it lists.
 */
export function listEverySeconds(markets: number): number {
  const pages = Math.ceil(markets / MARKETS_PAGE_SIZE);
  // The first page is replaced, so it leaves no superseded page.
  if (pages <= 1) return 0;
  return Math.max(Math.min(pages, LONGEST_SECONDS), defaultListEverySeconds(markets));
}

/** A generation spends about a fifth of a second on files, so that a small batch is soon public beside a large upload. */
export const HISTORY_FILE_BYTES = 8 * 1024 * 1024;
