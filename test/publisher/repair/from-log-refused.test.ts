/** A published log that is wrong in any way begins no ledger. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkpointText, type LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import { decodeEntryBundle, encodeEntryBundle, ndjsonTile } from '../../../contract/log/entry-bundle.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { signNote } from '../../../contract/log/notes.ts';
import { LogTree } from '../../../contract/log/tree.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { type FromLogOptions, LogUnusable, ledgerFromLog } from '../../../publisher/repair/from-log/ledger-from-log.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { observationId } from '../../../storage/records/markets.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { LOG_ORIGIN, readCheckpoint, readTexts, testSigner } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { damagedReader, type Edit, withBody, withBytes, withField, withStatus } from '../verify/damaged-reader.ts';
import { hidingHost } from '../verify/hiding-host.ts';
import { market, price, SMALL_PAGES, type World } from '../world.ts';
import { loggedWorld, noteOf, OWN_KEY } from './world-from-log.ts';

type Entry = { readonly [name: string]: unknown };

const CHECKPOINT = '/api/v1/log/checkpoint';

/** A signed checkpoint of any tree. */
const signed = async (size: number, root: Buffer, seed = 1) =>
  Buffer.from(await signNote(checkpointText({ origin: LOG_ORIGIN, size, root }), [testSigner(seed)]));

const rootOf = async ({ objects }: World) => ((await readCheckpoint(objects)) as LogCheckpoint).root;

describe('a log that is not proven is refused', () => {
  const ENTRIES = '/api/v1/log/tile/entries/000.p/6';
  const LINES = '/api/v1/log/ndjson/000.p/6.gz';
  let lost: World;
  let earlier: Uint8Array;

  const shown = (note: Uint8Array) => ({ [CHECKPOINT]: withBytes(() => Buffer.from(note)) });
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
    ['a checkpoint of another key', async () => shown(await signed(6, await rootOf(lost), 2))],
    ['an older checkpoint than the snapshot names', async () => shown(earlier)],
    ['a root that the entries do not give', async () => shown(await signed(6, Buffer.alloc(32, 3)))],
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
    const root = await rootOf(lost);
    const seen = async (...notes: readonly Uint8Array[]) =>
      await refusal({}, { seen: notes.map((note) => Buffer.from(note).toString()) });
    expect(await seen(earlier, await signed(4, root))).toBe(LogUnusable);
    expect(await seen(await signed(7, root))).toBe(LogUnusable);
    const other = await signNote(checkpointText({ origin: 'other.test/log', size: 9, root }), [OWN_KEY]);
    await expect(seen(earlier, Buffer.from(other))).rejects.toThrow();
  });
});

describe('entries that contradict each other, although their owner has signed them,', () => {
  let lost: World;
  let entries: readonly Entry[];

  beforeAll(async () => {
    lost = loggedWorld();
    await lost.ingest([market('a'), market('b'), market('c'), price('a', 0, 1), price('a', 1, 1)]);
    await lost.publish();
    await lost.ingest([price('a', 0, 2)], 'correct');
    await removeMarket(lost, 'c');
    await lost.publish();
    entries = (await readTexts(lost.objects)).map((text) => JSON.parse(text));
  });

  /** The definition of a market, or an observation: 0 and 1 are of the first two days, 2 is a correction of the first. */
  const definition = (slug: string) => entries.find(({ type, market }) => type === 'market' && market === slug);
  const observation = (number: number) => entries.filter(({ type }) => type === 'observation')[number] as Entry;
  const changed = (entry: Entry | undefined, more: Entry) =>
    entries.map((each) => (each === entry ? { ...each, ...more } : each));
  const takedown = (market: string, first: number, last: number) => [
    ...entries,
    { format: 1, type: 'takedown', market, first, last },
  ];
  /** A second correction of the first day, which has a place of its own. */
  const otherCorrection = () => {
    const identity = { market: 'a', metric: 'price', observedAt: '2026-01-09T00:00:00Z' };
    const id = observationId({ ...identity, sourceUrl: observation(2).sourceUrl as string, ordinal: 1 });
    return { ...observation(2), ...identity, id };
  };

  /** A host with a log of these entries, properly signed, and the bodies of the lost world. */
  async function logOf(some: readonly Entry[]): Promise<PublicReader> {
    const texts = some.map((entry) => canonicalJson(entry as Json));
    const tree = new LogTree();
    for (const text of texts) tree.append(leafHash(text));
    const [tile] = tree.partialTiles();
    const files = new Map<string, Uint8Array>([
      [CHECKPOINT, await signed(texts.length, tree.root())],
      [`/api/v1/log/tile/entries/000.p/${texts.length}`, encodeEntryBundle(texts)],
      [`/api/v1/log/ndjson/000.p/${texts.length}.gz`, gzipSync(ndjsonTile(texts))],
      [`/api/v1/log/tile/0/000.p/${texts.length}`, tile?.hashes ?? Buffer.alloc(0)],
    ]);
    return async (url, headers) => {
      const body = files.get(url);
      const like = await lost.read(url.replace(/\.p\/\d+/, `.p/${entries.length}`), headers);
      return body === undefined ? like : { ...like, body };
    };
  }

  async function begin(some: readonly Entry[]) {
    const reader = await logOf(some);
    const storage = { ...lost.dependencies, ledger: openSqliteLedger(':memory:') };
    const { findings } = await verifyLog(reader, { vkeys: [OWN_KEY.vkey], seen: null, pageSizes: SMALL_PAGES });
    const damage = findings.filter(({ rule }) => rule === 'log').map(({ url }) => url);
    const withoutSnapshot = damagedReader(reader, { '/api/v1/snapshot': withStatus(404) });
    const begun = await ledgerFromLog({ storage, keys: [OWN_KEY], reader: withoutSnapshot }).catch((error) => error);
    return { damage, begun };
  }

  test.each<[string, () => readonly Entry[]]>([
    ['a market without a definition', () => entries.filter((entry) => entry !== definition('a'))],
    ['a source that has no entry', () => changed(definition('a'), { sourceCount: 1 })],
    ['an entry after a removal', () => [...entries, definition('c') as Entry]],
    ['another content under a known id', () => [...entries, { ...observation(1), sourceLabel: 'other' }]],
    ['a correction of nothing', () => entries.filter((entry) => entry !== observation(0))],
    [
      'a correction before its observation',
      () => [...entries.filter((entry) => entry !== observation(0)), observation(0)],
    ],
    ['two corrections of one version', () => [...entries, otherCorrection()]],
    ['an id of another observation', () => changed(observation(1), { id: `obs_${'0'.repeat(24)}` })],
    ['a wrong number of decimals', () => changed(observation(1), { minorDigits: 3 })],
    ['a takedown of a market that is public', () => takedown('a', 0, 0)],
    ['a takedown of a market that the log does not know', () => takedown('zz', 0, 0)],
    ['a takedown of entries that are not there yet', () => takedown('c', 0, entries.length)],
    ['a takedown of no entries', () => takedown('c', 1, 0)],
  ])('begin no ledger, and are found by verify --log: %s', async (_, some) => {
    const { damage, begun } = await begin(some());
    expect(begun).toBeInstanceOf(LogUnusable);
    expect(damage).toHaveLength(1);
  });

  test('are not these: an observation at another revision, and a market that is taken back and stated anew', async () => {
    const reset = { format: 1, type: 'reset', market: 'a' };
    const cases = [
      [[...entries, { ...observation(1), revision: 7 }], 3],
      [[...entries, reset, definition('a') as Entry, observation(1)], 1],
      [[...entries, reset], 0],
    ] as const;
    for (const [some, observations] of cases)
      expect(await begin(some)).toMatchObject({ damage: [], begun: { observations } });
  });
});
