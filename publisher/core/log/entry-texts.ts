/** Reads the entries of the ledger's log, without those that were taken down. */
import { takenDownHash } from '../../../contract/log/entry-bundle.ts';
import { TILE_WIDTH } from '../../../contract/log/tiles.ts';

export interface LogEntries {
  /** The first `width` entries of a tile. */
  readonly readEntries: (tile: number, width: number) => Promise<readonly string[]>;
  /** Lets other tasks run. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/** The texts of the first `size` entries that were not taken down. */
export async function* publicTexts(
  { readEntries, yieldToEventLoop }: LogEntries,
  size: number,
): AsyncGenerator<string> {
  for (let first = 0; first < size; first += TILE_WIDTH) {
    for (const text of await readEntries(first / TILE_WIDTH, Math.min(TILE_WIDTH, size - first))) {
      if (takenDownHash(text) === null) yield text;
    }
    await yieldToEventLoop();
  }
}

/** The markets of which entries were taken down. */
export async function marketsTakenDown(entries: LogEntries, size: number): Promise<ReadonlySet<string>> {
  const slugs = new Set<string>();
  for await (const text of publicTexts(entries, size)) {
    if (text.includes('"type":"takedown"')) slugs.add(JSON.parse(text).market);
  }
  return slugs;
}
