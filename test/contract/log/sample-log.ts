/** Entries of every type, and a log of any entries as the files of its folder. */

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

const ofGold = { format: 1, market: 'gold-usd' } as const;
const provenance = {
  sourceLabel: 'Daily fixing',
  sourceUrl: 'https://source.example/gold/2026-09-29.json',
  releasedAt: null,
  confidence: 'medium',
  status: 'final',
} as const;
const ID = { first: 'obs_0123456789abcdef01234567', second: 'obs_89abcdef0123456789abcdef' } as const;

/** One of each type and variant. */
export const SAMPLE_ENTRIES: readonly LogEntry[] = [
  { format: 1, type: 'key', vkey: NEXT_SIGNER.vkey },
  { ...ofGold, type: 'reset' },
  {
    ...ofGold,
    type: 'market',
    revision: 1,
    updatedAt: '2026-09-29T06:00:00Z',
    name: 'Gold, US dollar',
    kind: 'metal',
    status: 'active',
    nativeCurrency: 'USD',
    unit: { of: 'troy ounce', quantity: 1 },
    sourceCount: 2,
  },
  {
    ...ofGold,
    type: 'source',
    revision: 1,
    position: 0,
    label: 'Daily fixing',
    url: 'https://source.example/gold',
    publisher: 'Börse “Źródło” 市場',
    licence: 'CC0-1.0',
    attribution: 'Data: Börse',
    cadence: {
      graceSeconds: 3600,
      holidays: ['12-25', 'easter-2'],
      period: 'day',
      releaseAfterDays: 0,
      releaseTime: '15:00',
      weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'],
    },
    verification: { outcome: 'confirmed', subject: 'observation', verifiedAt: '2026-09-30T08:00:00Z' },
  },
  {
    ...ofGold,
    type: 'source',
    revision: 2,
    position: 1,
    label: 'Minutes',
    url: 'https://minutes.example/',
    publisher: null,
    licence: null,
    attribution: null,
    cadence: { graceSeconds: 60, holidays: [], minutes: 5, period: 'minutes', weekdays: ['sat', 'sun'] },
    verification: null,
  },
  {
    ...ofGold,
    type: 'standing',
    revision: 3,
    disputedMetrics: ['price', 'volume'],
    representedBy: { digest: 'ab'.repeat(32) },
  },
  { ...ofGold, type: 'standing', revision: 4, disputedMetrics: [], representedBy: { digest: null } },
  { ...ofGold, type: 'standing', revision: 5, disputedMetrics: [], representedBy: null },
  {
    ...ofGold,
    ...provenance,
    type: 'observation',
    revision: 6,
    id: ID.first,
    metric: 'price',
    kind: 'money',
    amountMinor: 412910,
    currency: 'USD',
    minorDigits: 2,
    observedAt: '2026-09-29T00:00:00Z',
    recordedAt: '2026-09-29T06:00:00.250Z',
    sourceValue: '4129.10045482',
    rounded: true,
    unknownReason: null,
    retraction: null,
    supersedes: null,
  },
  {
    ...ofGold,
    ...provenance,
    type: 'observation',
    revision: 7,
    id: ID.second,
    metric: 'price',
    kind: 'money',
    amountMinor: null,
    currency: 'USD',
    minorDigits: 2,
    observedAt: '2026-09-29T00:00:00Z',
    recordedAt: '2026-09-29T07:00:00Z',
    releasedAt: '2026-09-28T15:00:00Z',
    sourceValue: null,
    rounded: false,
    unknownReason: 'withheld',
    retraction: 'withdrawn',
    supersedes: ID.first,
  },
  {
    ...ofGold,
    ...provenance,
    type: 'observation',
    revision: 8,
    id: 'obs_00000000000000000000000a',
    metric: 'volume',
    kind: 'scalar',
    value: '-0.50',
    unit: 'percent',
    observedAt: '2026-09-29T00:00:00Z',
    recordedAt: '2026-09-29T07:00:00Z',
    sourceValue: '-0.50',
    rounded: false,
    unknownReason: null,
    retraction: null,
    supersedes: null,
  },
  {
    ...ofGold,
    type: 'removal',
    revision: 9,
    reason: 'It was a copy of another market.',
    replacedBy: 'gold-usd-fixing',
    removedAt: '2026-10-01T00:00:00Z',
  },
];

/** A definition in format 2. The logs of earlier versions have none. */
export const SAMPLE_RULED_MARKET: LogEntry = {
  ...(SAMPLE_ENTRIES[2] as Extract<LogEntry, { type: 'market' }>),
  format: 2,
  outliers: { factor: 20, neighbours: 5 },
  outliersReason: 'Prices of power cross zero.',
};

/** A definition with attributes, in format 2. */
export const SAMPLE_ATTRIBUTES: LogEntry = {
  ...(SAMPLE_ENTRIES[2] as Extract<LogEntry, { type: 'market' }>),
  format: 2,
  attributes: {
    mode: {
      value: 'chat',
      sourceLabel: 'A list',
      sourceUrl: 'https://example.com/list',
      observedAt: '2026-10-01T00:00:00Z',
    },
  },
};

/** An announced value, in format 2. */
export const SAMPLE_ANNOUNCED: LogEntry = {
  ...(SAMPLE_ENTRIES.find(({ type }) => type === 'observation') as Extract<LogEntry, { kind: 'money' }>),
  format: 2,
  announced: true,
};

/** A retraction with a reason for the public, in format 2. */
export const SAMPLE_REASONED: LogEntry = {
  ...(SAMPLE_ENTRIES.findLast((entry) => 'retraction' in entry && entry.retraction !== null) as Extract<
    LogEntry,
    { kind: 'money' }
  >),
  format: 2,
  publicReason: 'The exchange took “4,129.10” back: <b>misprint</b>.',
};

export const SAMPLE_SERVICE: LogEntry = {
  format: 2,
  type: 'service',
  projections: ['log', 'history-files', 'latest', 'recent', 'exports', 'faces'],
  listSeconds: 64,
};

/** Of the type that came last: it has a golden file of its own. */
export const SAMPLE_TAKEDOWN: LogEntry = { ...ofGold, type: 'takedown', first: 3, last: 8 };

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
