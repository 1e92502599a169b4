/** Entries of every type, as the golden files have them, and a log of any entries as the files of its folder. */
import { readFileSync } from 'node:fs';

import { checkpointText } from '../../../contract/log/checkpoint.ts';
import type { LogEntry } from '../../../contract/log/entries.ts';
import { encodeEntryBundle, ndjsonTile } from '../../../contract/log/entry-bundle.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { ed25519Signer, privateNoteKey, signNote } from '../../../contract/log/notes.ts';
import type { TileReader } from '../../../contract/log/proofs.ts';
import { TILE_WIDTH, tilePath, tilesOfGrowth } from '../../../contract/log/tiles.ts';
import { type HashTile, LogTree } from '../../../contract/log/tree.ts';

export const ORIGIN = 'tidemark.example/log';
export const SIGNER = ed25519Signer(privateNoteKey(ORIGIN, Buffer.alloc(32, 7)));
export const NEXT_SIGNER = ed25519Signer(privateNoteKey(ORIGIN, Buffer.alloc(32, 8)));

/** An entry as the golden file has it, with its members in another order: the bytes of an entry must not depend on it. */
function entryOf(line: string): LogEntry {
  const reversed = (_: string, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).reverse())
      : value;
  return JSON.parse(line, reversed) as LogEntry;
}

const goldenText = (path: string) => readFileSync(new URL(`golden/${path}`, import.meta.url), 'utf8');

/** One of each type and variant of the first format. */
export const SAMPLE_ENTRIES: readonly LogEntry[] = goldenText('plain/0-12.ndjson').trimEnd().split('\n').map(entryOf);

/** Files of entries that came later. The logs of earlier versions have none. */
export const LATER_ENTRIES = [
  ...['takedown', 'ruled-market', 'attributes', 'announced-value', 'public-reason', 'service'],
].map((name) => [`${name}.json`, entryOf(goldenText(`${name}.json`))] as const);

const later = (file: string) => new Map(LATER_ENTRIES).get(`${file}.json`) as LogEntry;
export const SAMPLE_REASONED = later('public-reason');
export const SAMPLE_SERVICE = later('service');
export const SAMPLE_TAKEDOWN = later('takedown');

/** The paths below the root of a log, each with its bytes. NDJSON is plain, so that its bytes are the same everywhere. */
export type LogFiles = Map<string, Buffer>;

/**
 * Appends to the files of a log of `oldSize` entries. As a publisher does: it reads the right edge, and keeps every
 * tile that it has written.
 */
export async function growLog(files: LogFiles, oldSize: number, texts: readonly string[]): Promise<Buffer> {
  const tree = await LogTree.at(oldSize, tileReaderOf(files));
  const put = ({ level, n, width, hashes }: HashTile) => files.set(tilePath(level, n, width), hashes);
  for (const text of texts.slice(oldSize)) for (const tile of tree.append(leafHash(text))) put(tile);
  for (const tile of tree.partialTiles(oldSize)) put(tile);
  for (const { level, n, width } of tilesOfGrowth(oldSize, texts.length)) {
    if (level > 0) break;
    const own = texts.slice(n * TILE_WIDTH, n * TILE_WIDTH + width);
    files.set(tilePath('entries', n, width), encodeEntryBundle(own));
    files.set(`plain/${n}-${width}.ndjson`, Buffer.from(ndjsonTile(own)));
  }
  const root = tree.root();
  const text = checkpointText({ origin: ORIGIN, size: texts.length, root });
  files.set('checkpoint', Buffer.from(await signNote(text, [SIGNER])));
  return root;
}

export function tileReaderOf(files: LogFiles): TileReader {
  return async (level, n, width) => {
    const tile = files.get(tilePath(level, n, width));
    if (tile === undefined) throw new Error(`no tile ${tilePath(level, n, width)}`);
    return tile;
  };
}
