/** Begins the ledger of a data folder from a published log: `tidemark restore --from-log`, and a run without a ledger. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publicKey } from '../../contract/files/public-objects.ts';
import { DEFAULT_PAGE_SIZES, type PublisherStorage } from '../../publisher/dependencies.ts';
import { keepKnownPages } from '../../publisher/repair/from-log/known-pages.ts';
import { type LedgerFromLog, LogUnusable, ledgerFromLog } from '../../publisher/repair/from-log/ledger-from-log.ts';
import { resume } from '../../publisher/repair/resume.ts';
import { UpstreamInvalid, UpstreamUnavailable } from '../../publisher/verify/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { ignoreMissing, objectFile } from '../../storage/directory/object-places.ts';
import { claimFormat } from '../../storage/ports/format.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import type { CopyStep } from '../backup/copied-files.ts';
import { replaceFiles } from '../backup/put-back.ts';
import { garbageCollector } from '../edge-host/collect-at-rest.ts';
import { LEDGER_FILE } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import type { LogKey } from '../settings/log-key.ts';

/** A step reads a file of entries, or writes some markets. */
const STEPS_BETWEEN = 32;
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
  /** Kinds of files that will be published. */
  readonly projections: PublisherStorage['projections'];
  /** Signed checkpoints that were seen anywhere, of any log. */
  readonly seen?: readonly string[];
  readonly nowMs: number;
  readonly progress: CopyStep;
}

export interface BegunFolder extends LedgerFromLog {
  /** The folder with the files that were there before; null: there were none. */
  readonly replaced: string | null;
}

/**
 * Verifies the log, and puts a ledger with its facts into the data folder. Files that are there are moved aside, but for
 * the keys of the log and for published objects, which stay in place. On return the folder is marked as half restored:
 * {@link goOnFromLog} comes next, then `finishRestore`. After a kill, everything is done again from the start; no server
 * starts on a half.
 *
 * @throws StartError if the folder is in use or cannot be written, if the source gives no answer, and if its log is not
 *   proven: another key, a fork, fewer entries than were seen, files that are missing or wrong, entries that contradict
 *   each other. Then the folder is as it was
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
  return { ...(outcome as LedgerFromLog | null as LedgerFromLog), replaced };
}

/**
 * Makes the ledger and the store into which it publishes agree: the next generation is later than every published one,
 * and pages that are there keep their cursors. The refresh of all markets is due. May be repeated.
 *
 * Errors as of `resume`.
 */
export async function goOnFromLog(storage: PublisherStorage): Promise<void> {
  await keepKnownPages(storage);
  await resume(storage);
}

/** V8 would let the garbage of a long log lie. */
function collecting(progress: CopyStep): CopyStep {
  const collect = garbageCollector();
  let calls = 0;
  return (...step) => {
    calls += 1;
    if (calls % STEPS_BETWEEN === 0) collect();
    progress(...step);
  };
}

async function fillLedger(path: string, { dataFolder, reader, keys, seen = [], projections, ...more }: BeginFromLog) {
  const ledger = openSqliteLedger(path, { exclusive: true });
  try {
    await claimFormat({ ...systemRuntime, ledger });
    const settings = { pageSizes: DEFAULT_PAGE_SIZES, ...(projections && { projections }) };
    const progress = collecting(more.progress);
    const own = await publishedNote(dataFolder);
    return await ledgerFromLog({
      storage: { ...systemRuntime, ledger, ...settings },
      ...{ reader, keys, progress },
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
