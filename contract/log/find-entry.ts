/** Finds the entry of an observation in a log of any length, with few requests. */
import { laterInstant, millisecondInstant } from '../values/instants.ts';
import { TILE_WIDTH } from './tiles.ts';

/** An observation, and when it was recorded. */
export interface SoughtEntry {
  readonly id: string;
  readonly recordedAt: string;
}

/** Reads entries, file by file. */
export interface EntryFiles {
  /** @param width the number of entries in file `n`. A text is null if the entry was taken down */
  readonly entries: (n: number, width: number) => Promise<readonly { readonly text: string | null }[]>;
}

/**
 * Entries are in the order of generations. So the times in bundles increase, except for deferred markets, and at the
 * beginning of a log that began later than its service. The search begins at the first bundle that is new enough, continues
 * to the end, and then goes through all earlier bundles. Null: the log has no such entry.
 */
export async function findEntry(files: EntryFiles, size: number, sought: SoughtEntry) {
  const bundles = Math.ceil(size / TILE_WIDTH);
  const read = (n: number) => files.entries(n, Math.min(TILE_WIDTH, size - n * TILE_WIDTH));
  const recordedAt = millisecondInstant(sought.recordedAt);
  let [low, high] = [0, bundles - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const newest = newestIn(await read(middle));
    if (newest !== null && millisecondInstant(newest) < recordedAt) low = middle + 1;
    else high = middle;
  }
  for (const n of order(low, bundles)) {
    for (const [index, { text }] of (await read(n)).entries()) {
      if (text !== null && idIn(text) === sought.id) return { index: n * TILE_WIDTH + index, text };
    }
  }
  return null;
}

function* order(from: number, end: number): Generator<number> {
  for (let n = from; n < end; n++) yield n;
  for (let n = from - 1; n >= 0; n--) yield n;
}

/** Null if no entry of the bundle has a time of recording. */
function newestIn(entries: Awaited<ReturnType<EntryFiles['entries']>>): string | null {
  return entries.reduce<string | null>((newest, { text }) => {
    const instant = text === null ? undefined : (JSON.parse(text) as Partial<SoughtEntry>).recordedAt;
    return instant === undefined ? newest : laterInstant(instant, newest);
  }, null);
}

function idIn(text: string): string | undefined {
  return (JSON.parse(text) as Partial<SoughtEntry>).id;
}
