/**
 * Begins a ledger from a published log alone: for a deployment without a ledger, and as the last resort after a ledger and
 * its backups are lost. docs/log.md, "A ledger from the log", lists what is restored and what is lost.
 *
 * Safety: the log is proven as by `verify --log`, and a key of this deployment must have signed it. Records that are
 * written before the proof ends do not count, because HEAD comes last, and the caller discards a ledger without HEAD. The
 * ledger has the log byte for byte, and its records say that everything is stated. So the next generation states nothing
 * again, and continues the log at its end. HEAD says that the list and the log of the store are in doubt, so the next
 * generations compare everything with the store.
 */
import { marketUrl, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { entryText } from '../../../contract/log/entries.ts';
import { leafOf, takenDownLine } from '../../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { openNote, type VerifierKey } from '../../../contract/log/notes.ts';
import { TILE_WIDTH, widthOfTile } from '../../../contract/log/tiles.ts';
import type { Snapshot } from '../../../contract/values/market.ts';
import { dropped, put } from '../../../storage/ports/changes.ts';
import { readPage } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { MARKET_INDEX } from '../../../storage/records/markets.ts';
import { HEAD_KEY, type HeadValue, type LogState } from '../../../storage/records/publication.ts';
import { rendererOf } from '../../core/bodies/render.ts';
import type { LogFold } from '../../core/log/fold.ts';
import type { FoldedMarket, PublicRepresentative } from '../../core/log/folded-market.ts';
import { chunkRecords, readEntries } from '../../core/log/log-chunks.ts';
import { hashRecords } from '../../core/log/log-edge.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { BundleLine } from '../../kernel/bundle.ts';
import { Findings, readSnapshot } from '../../verify/check-body.ts';
import { isNamed, representativeOf } from '../../verify/log/check-folded.ts';
import { keysOf, LogFileError, LogFiles, openSigned, seenCheckpoint, VKEY_URL } from '../../verify/log/log-files.ts';
import { checkTakedowns, type ProvenLog } from '../../verify/log/log-pass.ts';
import { type LogSink, LogWalk } from '../../verify/log/log-walk.ts';
import { PastMarket } from '../../verify/log/past-market.ts';
import type { PublicReader } from '../../verify/reading/reader.ts';
import { LedgerWriter } from './ledger-writer.ts';
import { recordsOfRemoved, recordsOfShown } from './market-records.ts';

/** The log cannot be used: another key, another past, a missing or wrong file, or contradicting entries. */
export class LogUnusable extends Error {
  override readonly name = 'LogUnusable';
}

/** A key that signs the log. */
export interface OwnKey {
  readonly vkey: string;
  readonly keyId: number;
  /** The ids of lost keys whose log it continues. */
  readonly replaces?: readonly number[];
}

export interface FromLogOptions {
  /** The ledger must be empty and used by nothing else. */
  readonly storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId' | 'nowMs' | 'pageSizes' | 'projections'>;
  /** Reads a copy of the published files. The copy need not be trusted. */
  readonly reader: PublicReader;
  /** The keys with which this deployment signs, newest first. */
  readonly keys: readonly OwnKey[];
  /** Signed checkpoints that were seen anywhere. The log must have each of them in its past. */
  readonly seen?: readonly string[];
  /** Whether to continue if the copy lacks names of representatives. Default: the copy is refused. */
  readonly forgetNames?: boolean;
  readonly progress?: (step: string, done: number, of: number) => void;
}

export interface LedgerFromLog {
  /** The number of entries of the log, and so the index of the next entry. */
  readonly logSize: number;
  readonly origin: string;
  /** The generation of HEAD: the one in the copy's snapshot. */
  readonly generation: number;
  readonly markets: number;
  readonly removed: number;
  readonly observations: number;
  /** The number of entries whose texts were taken down. */
  readonly takenDown: number;
  /**
   * Markets whose representative's name is lost: the log has its digest, but no body has the name. They show none from now
   * on.
   */
  readonly lostNames: readonly string[];
  /** The log as it was read and proven, for further checks of the copy. */
  readonly proven: ProvenLog;
}

/** A cursor cannot hold a greater generation. */
const GENERATION_MAX = 999_999_999_999;

/**
 * Fills the ledger. It is then ready for `takeOverStore`, and after that for `publish`.
 *
 * @throws LogUnusable if the log is not proven. Discard the ledger then, as after any other error
 * @throws RangeError if the ledger is not empty
 * @throws the errors of the reader
 */
export async function ledgerFromLog(options: FromLogOptions): Promise<LedgerFromLog> {
  const { ledger } = options.storage;
  const { items } = await readPage(ledger, MARKET_INDEX, { limit: 1 });
  if (items.length > 0 || (await ledger.get(HEAD_KEY)) !== null)
    throw new RangeError('a ledger is begun from a log only if it is empty');
  try {
    return await fill(options);
  } catch (error) {
    if (error instanceof LogFileError) throw new LogUnusable(`${error.url}: ${error.message}`, { cause: error });
    if (error instanceof LogFaultError) throw new LogUnusable(error.message, { cause: error });
    throw error;
  }
}

async function fill(options: FromLogOptions): Promise<LedgerFromLog> {
  const { storage, reader, keys, seen = [], forgetNames = false, progress = () => {} } = options;
  const writer = new LedgerWriter(storage);
  const files = new LogFiles(reader);
  // Read before the checkpoint: it is published later than the checkpoint, so it never names a longer log than the one read
  // next.
  const snapshot = await snapshotOf(reader);
  const note = await files.checkpointNote();
  const signed = keysOf(await vkeysOf(files, keys), VKEY_URL);
  const checkpoint = openSigned(note, signed);
  const { origin, size, root } = checkpoint;
  assertIsWhole(snapshot, size);
  const generation = snapshot?.generation ?? 0;

  const findings = new Findings();
  const walk = new LogWalk(files, findings, sinkOf(writer, generation, size, progress));
  const { fold } = walk;
  await walk.to(checkpoint, null);
  checkTakedowns({ walk }, findings);
  const [fault] = findings.all;
  if (fault !== undefined) throw new LogUnusable(`${fault.url}: ${fault.detail}`);
  for (const other of seen) await assertInPast(walk, origin, other);
  await writer.flush();
  await hideTakenDown(storage, writer, walk, generation);

  const slugs = fold.slugs();
  const lostNames: string[] = [];
  const counts: HeadValue['counts'] = { markets: 0, observations: 0, unknownValues: 0 };
  for (const [done, slug] of slugs.entries()) {
    progress('Writing the markets', done, slugs.length);
    const folded = fold.market(slug);
    if (folded?.kind === 'shown') {
      const { representative, isNameLost } = await representativeFor(reader, slug, folded);
      if (isNameLost && !forgetNames) throw nameless(slug);
      if (isNameLost) lostNames.push(slug);
      const records = recordsOfShown(slug, folded, { generation, representative, isNameLost });
      counts.markets++;
      counts.observations += records.value.observations;
      counts.unknownValues += records.value.unknownValues;
      for (const change of records.changes()) await writer.add(change);
    } else if (folded?.kind === 'removed') {
      const before = new PastMarket(fold, slug, size).lastShown();
      const revision = fold.revisionOf(slug);
      const cut = { generation, pageSize: storage.pageSizes.observations };
      for (const change of recordsOfRemoved(slug, revision, folded.removal, before, cut)) await writer.add(change);
    }
  }
  await writer.flush();
  const { signedBy } = openNote(note, signed);
  const log = logState(fold, { size, root: root.toString('base64') }, signedBy);
  await writer.add(put(HEAD_KEY, generation, headOf(storage, generation, counts, log)));
  await writer.flush();
  const { markets, observations } = counts;
  const removed = slugs.length - markets;
  const proven = { checkpoint, files, note, walk };
  return {
    ...{ logSize: size, origin, generation, markets, removed, observations, takenDown: fold.takenDown, lostNames },
    proven,
  };
}

/** Our own keys. The public half of a lost key is only in the published files. */
async function vkeysOf(files: LogFiles, keys: readonly OwnKey[]): Promise<readonly string[]> {
  const own = keys.map(({ vkey }) => vkey);
  const lost = new Set(keys.flatMap(({ replaces = [] }) => replaces));
  if (lost.size === 0) return own;
  const shown = keysOf(await files.vkeys(), VKEY_URL);
  return [...own, ...shown.filter(({ keyId }) => lost.has(keyId)).map(({ vkey }) => vkey)];
}

/** The snapshot is not signed. Its generation only has to be later than any that readers know. Null: the copy has no snapshot. */
async function snapshotOf(reader: PublicReader): Promise<Snapshot | null> {
  const { status } = await reader(SNAPSHOT_URL);
  if (status === 404) return null;
  const findings = new Findings();
  const snapshot = await readSnapshot(reader, findings);
  if (snapshot !== null && snapshot.value.generation <= GENERATION_MAX) return snapshot.value;
  const detail = findings.all[0]?.detail ?? `names generation ${snapshot?.value.generation}`;
  throw new LogUnusable(`${SNAPSHOT_URL}: ${detail}`);
}

/** Refuses a log that ends before the snapshot: later changes would be lost. */
function assertIsWhole(snapshot: Snapshot | null, size: number): void {
  if (snapshot === null) return;
  if (snapshot.log === undefined) {
    throw new LogUnusable(`${SNAPSHOT_URL} names no log: the service has switched it off, and published changes since`);
  }
  if (snapshot.log.size <= size) return;
  throw new LogUnusable(`${SNAPSHOT_URL} names a log of ${snapshot.log.size} entries, and the checkpoint has ${size}`);
}

async function addRecords(writer: LedgerWriter, generation: number, lines: readonly BundleLine[]): Promise<void> {
  for (const line of lines) {
    if (line.kind !== 'record') continue;
    await writer.add(line.value === null ? dropped(line.key) : put(line.key, generation, line.value));
  }
}

/** Writes the log as records of the ledger. */
function sinkOf(
  writer: LedgerWriter,
  generation: number,
  size: number,
  progress: Required<FromLogOptions>['progress'],
): LogSink {
  let done = 0;
  return {
    entries: async (n, entries) => {
      const texts = entries.map(({ text, leaf }) => text ?? takenDownLine(leaf));
      await addRecords(writer, generation, chunkRecords(n, texts, 0));
      done += entries.length;
      progress('Reading the log', done, size);
    },
    hashes: async (tiles) => await addRecords(writer, generation, hashRecords(tiles)),
  };
}

/** Replaces texts that a later entry takes down: a copy that was made before may still have them. */
async function hideTakenDown(
  { ledger }: Pick<PublisherStorage, 'ledger'>,
  writer: LedgerWriter,
  { fold, size }: LogWalk,
  generation: number,
): Promise<void> {
  for (let n = 0; fold.takenDown > 0 && n * TILE_WIDTH < size; n++) {
    const width = widthOfTile(0, n, size);
    const isHidden = (index: number) => fold.isTakenDown(n * TILE_WIDTH + index);
    if (!Array.from({ length: width }, (_, index) => isHidden(index)).includes(true)) continue;
    const entries = await readEntries(ledger, n, width);
    const lines = entries.map((text, index) => (isHidden(index) ? takenDownLine(leafOf(text)) : text));
    await addRecords(writer, generation, chunkRecords(n, lines, 0, entries));
  }
}

/**
 * Refuses a copy without a seen checkpoint: it is old or rolled back, and continuing it would sign a second version of the
 * later entries.
 */
async function assertInPast(walk: LogWalk, origin: string, note: string): Promise<void> {
  const seen = seenCheckpoint(note);
  if (seen.origin !== origin) return;
  if (seen.size > walk.size) {
    throw new LogUnusable(
      `the log has ${walk.size} entries there, and ${seen.size} were published: use a copy that has all of them`,
    );
  }
  if ((await walk.rootAt(seen.size)).equals(seen.root)) return;
  throw new LogUnusable(`the first ${seen.size} entries are not those of a checkpoint that was seen before: a fork`);
}

/** The name of a representative from a body of the copy: the log has only its digest. */
async function representativeFor(
  reader: PublicReader,
  slug: string,
  { representedBy }: FoldedMarket,
): Promise<{ readonly representative: PublicRepresentative | null; readonly isNameLost: boolean }> {
  if (representedBy === null) return { representative: null, isNameLost: false };
  const { status, body } = await reader(marketUrl(slug));
  const shown = status === 200 ? representativeOf(Buffer.from(body).toString('utf8')) : null;
  const isRight = shown !== null && isNamed(representedBy, shown);
  return { representative: isRight ? shown : null, isNameLost: !isRight };
}

function nameless(slug: string): LogUnusable {
  return new LogUnusable(
    `${marketUrl(slug)} does not have the name of the market's representative, of which the log has only a digest: use a copy that has it, or say --forget-names`,
  );
}

/** The state of the log. A key of ours that neither signs the log nor is announced in it gets an entry in the next generation. */
function logState(
  { service, takenDown, vkeys }: LogFold,
  tree: Pick<LogState, 'size' | 'root'>,
  signedBy: readonly VerifierKey[],
): LogState {
  return {
    ...tree,
    vkeys: [...new Set([...signedBy.map(({ vkey }) => vkey), ...vkeys])],
    service: service === null ? '' : sha256Hex(entryText(service)).slice(0, 12),
    isDoubtful: true,
    ...(takenDown === 0 ? {} : { takenDown }),
  };
}

function headOf(
  storage: Pick<PublisherStorage, 'nowMs' | 'pageSizes' | 'projections'>,
  generation: number,
  counts: HeadValue['counts'],
  log: LogState,
): HeadValue {
  return {
    generation,
    publishedAt: new Date(storage.nowMs()).toISOString(),
    bundle: { key: '', digest: '' },
    applied: true,
    list: {
      ...{ generation, shows: generation, digest: null, markets: counts.markets, publishedAtMs: 0 },
      ...{ layout: null, isDoubtful: true },
    },
    renderer: rendererOf(storage),
    counts,
    log,
    isBegun: true,
  };
}
