/** The log of a small deployment, and a strict reader of a public one. */
import { gunzipSync } from 'node:zlib';
import { LOG_ROOT, PUBLIC_PREFIX } from '../../../contract/files/public-objects.ts';
import { type LogCheckpoint, openCheckpoint } from '../../../contract/log/checkpoint.ts';
import type { LogEntry } from '../../../contract/log/entries.ts';
import { decodeEntryBundle } from '../../../contract/log/entry-bundle.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { ed25519Signer, privateNoteKey, verifierKey } from '../../../contract/log/notes.ts';
import { parseEntry } from '../../../contract/log/parse-entry.ts';
import { ndjsonPath, TILE_WIDTH, tilePath, tilesOfGrowth } from '../../../contract/log/tiles.ts';
import { LogTree } from '../../../contract/log/tree.ts';
import type { LogSettings, PublisherDependencies } from '../../../publisher/dependencies.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';

export const LOG_ORIGIN = 'tidemark.test/log';

/** @param seed another number is another key */
export function testSigner(seed = 1) {
  return ed25519Signer(privateNoteKey(LOG_ORIGIN, Buffer.alloc(32, seed)));
}

export const TEST_LOG: LogSettings = { origin: LOG_ORIGIN, signers: [testSigner()] };

/** The log of another name. */
export function testLogOf(origin: string): LogSettings {
  return { origin, signers: [ed25519Signer(privateNoteKey(origin, Buffer.alloc(32, 9)))] };
}

export function withLog(dependencies: PublisherDependencies, log: LogSettings = TEST_LOG): PublisherDependencies {
  return { ...dependencies, log, projections: new Set(['log']) };
}

export const logKey = (path: string): string => `${PUBLIC_PREFIX}${LOG_ROOT}/${path}`;

async function read(objects: ObjectStore, path: string): Promise<Buffer> {
  const found = await objects.get(logKey(path));
  if (found.kind !== 'found') throw new Error(`${path} is not public`);
  return Buffer.from(found.body);
}

/** Null before the first one. Throws unless the test key has signed it. */
export async function readCheckpoint(objects: ObjectStore, seed = 1): Promise<LogCheckpoint | null> {
  const found = await objects.get(logKey('checkpoint'));
  if (found.kind !== 'found') return null;
  return openCheckpoint(Buffer.from(found.body).toString('utf8'), [verifierKey(testSigner(seed).vkey)]);
}

/** The texts of all entries. Throws unless every tile of the checkpoint is there and right, and gives its root. */
export async function readTexts(objects: ObjectStore, seed = 1): Promise<readonly string[]> {
  const checkpoint = await readCheckpoint(objects, seed);
  const { size, root } = checkpoint as LogCheckpoint;
  const texts: string[] = [];
  const tree = new LogTree();
  const tiles = new Map<string, Buffer>();
  for (let n = 0; n * TILE_WIDTH < size; n++) {
    const width = Math.min(TILE_WIDTH, size - n * TILE_WIDTH);
    const entries = decodeEntryBundle(await read(objects, tilePath('entries', n, width))).map(String);
    const lines = gunzipSync(await read(objects, ndjsonPath(n, width))).toString('utf8');
    if (lines !== entries.map((text) => `${text}\n`).join('')) throw new Error(`ndjson tile ${n} has other entries`);
    for (const text of entries) {
      texts.push(text);
      for (const tile of tree.append(leafHash(text))) tiles.set(tilePath(tile.level, tile.n, tile.width), tile.hashes);
    }
  }
  for (const tile of tree.partialTiles()) tiles.set(tilePath(tile.level, tile.n, tile.width), tile.hashes);
  for (const { level, n, width } of tilesOfGrowth(0, size)) {
    const path = tilePath(level, n, width);
    if (!(await read(objects, path)).equals(tiles.get(path) ?? Buffer.alloc(0))) throw new Error(`${path} is wrong`);
  }
  if (texts.length !== size || !tree.root().equals(root)) throw new Error('the checkpoint has another root');
  return texts;
}

/** The entries from an index on, but for those that say what is published: `service-entry.test.ts` is about them. */
export async function readLog(objects: ObjectStore, seed = 1, from = 0): Promise<readonly LogEntry[]> {
  const entries = (await readTexts(objects, seed)).slice(from).map(parseEntry);
  return entries.filter(({ type }) => type !== 'service');
}

/** Short, for comparison: `market gold-usd 3`. */
export function brief(entry: LogEntry): string {
  if (!('revision' in entry)) return `${entry.type} ${'market' in entry ? entry.market : ''}`.trim();
  const what = entry.type === 'observation' ? ` ${entry.observedAt.slice(0, 10)}` : '';
  return `${entry.type} ${entry.market} ${entry.revision}${what}`;
}
