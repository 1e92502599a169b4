/** How far `verify` is, as its reads tell: markets of those that the snapshot counts, entries of those that the checkpoint counts. */

import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { MARKETS_URL, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { TILE_WIDTH } from '../../contract/log/tiles.ts';
import { CHECKPOINT_URL } from '../../publisher/verify/log-files.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { ProgressLine } from '../../server/terminal/progress-line.ts';

const MARKET = new RegExp(`(?:${MARKETS_URL}|/markets)/[^/?]+$`);
const ENTRIES = `${LOG_ROOT}/ndjson/`;

export interface WatchedReader {
  readonly reader: PublicReader;
  /** To be called before a second walk. */
  begin(): void;
  /** Reads that are still under way show nothing any more. */
  end(): void;
}

export function watchedReader(reader: PublicReader, line: ProgressLine): WatchedReader {
  /** Unknown until they are read, and only for show: another answer shows nothing. A 304 has none. */
  let [markets, entries] = [0, 0];
  let isOver = false;
  let [step, done] = ['Reading the list', 0];
  const show = (unit: string, of: number) =>
    line.at(step, { share: of > 0 ? Math.min(1, done / of) : null, count: done, unit });
  const count = (name: string, by: number) => {
    if (name !== step) [step, done] = [name, 0];
    done += by;
  };
  const begin = () => {
    [step, done] = ['Reading the list', 0];
    line.at(step, { share: null });
  };
  begin();
  return {
    begin,
    end() {
      isOver = true;
      line.clear();
    },
    reader: async (url, headers) => {
      const answer = await reader(url, headers);
      if (isOver) return answer;
      if (url === SNAPSHOT_URL) markets = numberIn(answer.body, /"markets":(\d{1,12})/) || markets;
      else if (url === CHECKPOINT_URL) entries = numberIn(answer.body, /^[^\n]*\n(\d{1,15})\n/);
      else if (url.startsWith(ENTRIES)) {
        count('Reading the log', TILE_WIDTH);
        show('entry', entries);
      } else if (MARKET.test(url)) {
        count(entries === 0 ? 'Checking the markets' : 'Comparing the markets with the log', 1);
        show('market', markets);
      }
      return answer;
    },
  };
}

function numberIn(body: Uint8Array, pattern: RegExp): number {
  return Number(pattern.exec(Buffer.from(body).toString('latin1'))?.[1] ?? 0);
}
