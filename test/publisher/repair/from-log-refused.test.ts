/** A published log that is wrong in any way begins no ledger. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkpointText, type LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import { decodeEntryBundle, encodeEntryBundle, ndjsonTile } from '../../../contract/log/entry-bundle.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { signNote } from '../../../contract/log/notes.ts';
import { LogTree } from '../../../contract/log/tree.ts';
import { type FromLogOptions, LogUnusable, ledgerFromLog } from '../../../publisher/repair/from-log/ledger-from-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { LOG_ORIGIN, readCheckpoint, readTexts, testSigner } from '../log/test-log.ts';
import { damagedReader, type Edit, withBody, withBytes, withField, withStatus } from '../verify/damaged-reader.ts';
import { hidingHost } from '../verify/hiding-host.ts';
import { market, price, type World } from '../world.ts';

import { loggedWorld, noteOf, OWN_KEY } from './world-from-log.ts';

describe('a log that is not proven is refused', () => {
  const CHECKPOINT = '/api/v1/log/checkpoint';
  const ENTRIES = '/api/v1/log/tile/entries/000.p/6';
  const LINES = '/api/v1/log/ndjson/000.p/6.gz';
  let lost: World;
  let earlier: Uint8Array;

  /** A signed checkpoint of another tree. */
  const signed = async (size: number, root: Buffer, seed = 1) =>
    Buffer.from(await signNote(checkpointText({ origin: LOG_ORIGIN, size, root }), [testSigner(seed)]));
  const withEntry = (change: (text: string) => string): { [url: string]: Edit } => ({
    [ENTRIES]: withBytes((bytes) => encodeEntryBundle(decodeEntryBundle(bytes).map(String).map(change))),
    [LINES]: withBytes((bytes) => gzipSync(gunzipSync(bytes).toString().replaceAll(/.+/g, change))),
  });
  const refusal = async (edits: { readonly [url: string]: Edit }, options: Partial<FromLogOptions> = {}) => {
    const reader = options.reader ?? damagedReader(lost.read, edits);
    const storage = { ...lost.dependencies, ledger: openSqliteLedger(':memory:') };
    const error = await ledgerFromLog({ storage, keys: [OWN_KEY], ...options, reader }).catch(
      (fault: unknown) => fault,
    );
    expect(await storage.ledger.get(HEAD_KEY)).toBeNull();
    return (error as Error).constructor;
  };

  beforeAll(async () => {
    lost = loggedWorld();
    await lost.ingest([market('a'), price('a', 0, 1)]);
    await lost.publish();
    earlier = (await noteOf(lost)) as Uint8Array;
    await lost.ingest([market('b'), price('b', 0, 2), price('a', 1, 1)]);
    await lost.publish();
    expect((await readCheckpoint(lost.objects))?.size).toBe(6);
  });

  test('unless nothing is wrong with it', async () => {
    expect(await refusal({}).catch(() => 'written')).toBe('written');
  });

  const CASES: readonly [string, () => Promise<{ readonly [url: string]: Edit }>][] = [
    ['no checkpoint', async () => ({ [CHECKPOINT]: withStatus(404) })],
    [
      'a checkpoint of another key',
      async () => {
        const { root } = (await readCheckpoint(lost.objects)) as LogCheckpoint;
        const note = await signed(6, root, 2);
        return { [CHECKPOINT]: withBytes(() => note) };
      },
    ],
    [
      'an older checkpoint than the snapshot names',
      async () => ({ [CHECKPOINT]: withBytes(() => Buffer.from(earlier)) }),
    ],
    [
      'a root that the entries do not give',
      async () => {
        const note = await signed(6, Buffer.alloc(32, 3));
        return { [CHECKPOINT]: withBytes(() => note) };
      },
    ],
    ['entries that are missing', async () => ({ [ENTRIES]: withStatus(404) })],
    ['lines that are missing', async () => ({ [LINES]: withStatus(404) })],
    ['a tile of other hashes', async () => ({ '/api/v1/log/tile/0/000.p/6': withBytes((bytes) => bytes.fill(1)) })],
    ['a changed entry', async () => withEntry((text) => text.replace('"amountMinor":2', '"amountMinor":3'))],
    ['a snapshot without a log', async () => ({ '/api/v1/snapshot': withBody((body) => delete body.log) })],
    ['a snapshot of an impossible generation', async () => ({ '/api/v1/snapshot': withField('generation', 2 ** 50) })],
  ];
  test.each(CASES)('%s', async (_, edits) => {
    expect(await refusal(await edits())).toBe(LogUnusable);
  });

  test('a hidden entry that no takedown names', async () => {
    expect(await refusal({}, { reader: hidingHost(lost.read, /^.*"amountMinor":2,.*$/m) })).toBe(LogUnusable);
  });

  test('another key', async () => {
    expect(await refusal({}, { keys: [testSigner(2)] })).toBe(LogUnusable);
    expect(await refusal({}, { keys: [] })).toBe(LogUnusable);
  });

  test('a log with another past than was seen, or a shorter one; other logs do not matter', async () => {
    const { root } = (await readCheckpoint(lost.objects)) as LogCheckpoint;
    const seen = async (...notes: readonly Uint8Array[]) =>
      await refusal({}, { seen: notes.map((note) => Buffer.from(note).toString()) });
    expect(await seen(earlier, await signed(4, root))).toBe(LogUnusable);
    expect(await seen(await signed(7, root))).toBe(LogUnusable);
    const other = await signNote(checkpointText({ origin: 'other.test/log', size: 9, root }), [OWN_KEY]);
    await expect(seen(earlier, Buffer.from(other))).rejects.toThrow();
  });

  test('entries that contradict each other, although their owner has signed them', async () => {
    const texts = await readTexts(lost.objects);
    const twice = texts
      .filter((text) => text.includes('"amountMinor":2,'))
      .map((text) => text.replace('"amountMinor":2,', '"amountMinor":3,'));
    expect(twice).toHaveLength(1);
    expect(await refusal({}, { reader: await logOf([...texts, ...twice]) })).toBe(LogUnusable);
    await expect(refusal({}, { reader: await logOf(texts) })).rejects.toThrow();
  });

  /** A host with a log of these entries, properly signed, and nothing else. */
  async function logOf(texts: readonly string[]): Promise<PublicReader> {
    const tree = new LogTree();
    for (const text of texts) tree.append(leafHash(text));
    const [tile] = tree.partialTiles();
    const files = new Map<string, Uint8Array>([
      [CHECKPOINT, await signed(texts.length, tree.root())],
      [`/api/v1/log/tile/entries/000.p/${texts.length}`, encodeEntryBundle(texts)],
      [`/api/v1/log/ndjson/000.p/${texts.length}.gz`, gzipSync(ndjsonTile(texts))],
      [`/api/v1/log/tile/0/000.p/${texts.length}`, tile?.hashes ?? Buffer.alloc(0)],
    ]);
    return async (url) => {
      const body = files.get(url);
      const like = await lost.read(url.replace(/\.p\/\d+/, '.p/6'));
      return body === undefined ? { ...like, status: 404 } : { ...like, body };
    };
  }
});
