/** Begins the ledger of a data folder from a published log: `tidemark restore --from-log`, and a run without a ledger. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { publicKey } from '../../contract/files/public-objects.ts';
import { DEFAULT_PAGE_SIZES, type PublisherStorage } from '../../publisher/dependencies.ts';
import { takeOverStore } from '../../publisher/repair/from-log/known-pages.ts';
import { type LedgerFromLog, LogUnusable, ledgerFromLog } from '../../publisher/repair/from-log/ledger-from-log.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { ignoreMissing, objectFile } from '../../storage/directory/object-places.ts';
import { claimFormat } from '../../storage/ports/format.ts';
import { readPage } from '../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import type { CopyStep } from '../backup/copied-files.ts';
import { finishRestore, replaceFiles } from '../backup/put-back.ts';
import { garbageCollector } from '../edge-host/collect-at-rest.ts';
import { LEDGER_FILE, openDataFolder, RESTORING_FILE, withLedger } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { type LogKey, publishedLog } from '../settings/log-key.ts';

const GARBAGE_BYTES_MAX = 64 * 1024 * 1024;
/** They sign the log that goes on. */
const KEYS_OF_LOG = ['log-key', 'log-key-previous'];

export interface BeginFromLog {
  readonly dataFolder: string;
  /** Where the log is published: see `publishedFilesReader`. */
  readonly reader: PublicReader;
  /** For messages: the URL or the folder. */
  readonly source: string;
  /** The keys with which this deployment signs, newest first. Those that the log has now, or their successor. */
  readonly keys: readonly LogKey[];
  /** Another folder for the public files: as of `openDataFolder`. Default: where they are. */
  readonly target?: string | null;
  /** The log is that of the target. Then its other files are looked at when something is published: see `takeOverStore`. */
  readonly isOfTarget?: boolean;
  /** Kinds of files that will be published. */
  readonly projections: PublisherStorage['projections'];
  /** As of the settings of the server. */
  readonly readBaseUrl: string | null;
  /** Signed checkpoints that were seen anywhere, of any log. */
  readonly seen?: readonly string[];
  /** Goes on without names of representatives that the source does not have. Default: it is refused. */
  readonly forgetNames?: boolean;
  readonly nowMs: number;
  readonly progress: CopyStep;
}

export interface BegunFolder extends LedgerFromLog {
  /** The folder with the files that were there before; null: there were none. */
  readonly replaced: string | null;
}

/** Whether the folder has no ledger, or one that {@link beginFromLog} has begun and not finished. */
export function isLedgerMissing(dataFolder: string): boolean {
  return !existsSync(join(dataFolder, LEDGER_FILE)) || existsSync(join(dataFolder, RESTORING_FILE));
}

/**
 * Whether the folder has no ledger, or one that nothing was taken into and nothing published from. A run that was refused
 * leaves such a one.
 *
 * @throws StartError if another process has it open, and for a damaged one
 */
export async function isLedgerEmpty(dataFolder: string): Promise<boolean> {
  if (isLedgerMissing(dataFolder)) return true;
  return await withLedger(
    dataFolder,
    async (ledger) =>
      (await ledger.get(HEAD_KEY)) === null && (await readPage(ledger, MARKET_INDEX, { limit: 1 })).items.length === 0,
  );
}

/**
 * Verifies the log, and puts a ledger with its facts into the data folder. Files that are there are moved aside, but for
 * the keys of the log and for published objects, which stay in place. Every market is due for a refresh, so the next
 * generations publish everything: later than every generation that the source or the store shows, with the next entry of
 * the log, and with the cursors of pages that the store has. Without other marks they change nothing but the snapshot in a
 * store that has all of it.
 *
 * No other process may have the folder open, and it is closed on return. After a kill, call it again: everything is done from
 * the start, and no server starts on a half.
 *
 * @throws StartError if the folder is in use or cannot be written, if the source gives no answer, and if its log is not
 *   proven: another key, a fork, fewer entries than were seen, files that are missing or wrong, entries that contradict
 *   each other; or if names are missing. Then the folder is as it was
 * @throws StorageUnavailable if the store does not answer: then call it again
 */
export async function beginFromLog(options: BeginFromLog): Promise<BegunFolder> {
  const { dataFolder, source, nowMs } = options;
  let outcome: LedgerFromLog | null = null;
  const stage = async (folder: string): Promise<void> => {
    outcome = await fillLedger(join(folder, LEDGER_FILE), options).catch((error: unknown) => {
      throw refusalOf(source, error);
    });
  };
  const replaced = await replaceFiles({ dataFolder, nowMs, name: source, stay: KEYS_OF_LOG, stage });
  if (!options.isOfTarget) await takeOver(options);
  await finishRestore(dataFolder);
  return { ...(outcome as LedgerFromLog | null as LedgerFromLog), replaced };
}

async function takeOver({ dataFolder, target = null, progress, ...options }: BeginFromLog): Promise<void> {
  progress('Comparing what is published', 0, 1);
  const { ledger, objects, close } = await openDataFolder(dataFolder, { isRestoring: true, target });
  try {
    const storage = { ...systemRuntime, ledger, objects, ...settingsOf(options) };
    await takeOverStore(storage);
  } finally {
    close();
  }
}

function settingsOf({ projections, readBaseUrl }: Pick<BeginFromLog, 'projections' | 'readBaseUrl'>) {
  return {
    pageSizes: DEFAULT_PAGE_SIZES,
    ...(projections && { projections }),
    ...(readBaseUrl !== null && { readBaseUrl }),
  };
}

/** V8 would let the garbage of a long log lie. */
function collecting(progress: CopyStep): CopyStep {
  const collect = garbageCollector();
  let after = bytesHeld();
  return (...step) => {
    if (bytesHeld() > after + GARBAGE_BYTES_MAX) {
      collect();
      after = bytesHeld();
    }
    progress(...step);
  };
}

/** `process.memoryUsage` would also ask the system for the size of the process, at each step. */
function bytesHeld(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

async function fillLedger(path: string, { dataFolder, reader, keys, seen = [], ...more }: BeginFromLog) {
  const { forgetNames = false } = more;
  const ledger = openSqliteLedger(path, { exclusive: true, isBulk: true });
  try {
    await claimFormat({ ...systemRuntime, ledger });
    const progress = collecting(more.progress);
    const own = await publishedNote(dataFolder);
    const name = publishedLog(own)?.origin ?? null;
    if (name !== null && keys.some((key) => key.name !== name)) {
      throw new StartError(
        `${dataFolder} has published the log ${name}, and its log-key is of ${keys[0]?.name}: choose another folder by --data. ${NOTHING_CHANGED}`,
      );
    }
    return await ledgerFromLog({
      storage: { ...systemRuntime, ledger, ...settingsOf(more) },
      ...{ reader, keys, forgetNames, progress },
      seen: own === null ? seen : [...seen, own],
    });
  } finally {
    ledger.close();
  }
}

/** The checkpoint that this folder has published, whatever else of it is lost. */
async function publishedNote(dataFolder: string): Promise<string | null> {
  const file = objectFile(dataFolder, publicKey({ kind: 'log-checkpoint' }), { contentType: 'text/plain' });
  return (await readFile(file, 'utf8').catch(ignoreMissing)) ?? null;
}

const NOTHING_CHANGED = 'Nothing was changed.';

function refusalOf(source: string, error: unknown): unknown {
  if (error instanceof LogUnusable) {
    return new StartError(
      `The log at ${source} cannot be used. ${error.message}. ${NOTHING_CHANGED} See docs/log.md, "A ledger from the log".`,
      { cause: error },
    );
  }
  if (error instanceof UpstreamUnavailable || error instanceof UpstreamInvalid) {
    return new StartError(`${error.message}. ${NOTHING_CHANGED} Check the address and the network, then try again.`, {
      cause: error,
    });
  }
  return error;
}
