/**
 * The state of a service without a disk: a sealed copy of the ledger lies beside the public files of its target.
 *
 * Safety. The copy is replaced after each commit, before anything of the generation becomes public. It contains the bundle of
 * the generation. The replacement is a compare and swap with the copy that the run began from. It happens once more at the end.
 *
 * - *No fork of the log.* If two runs begin from one copy, both commit a generation, each in its own ledger. One run replaces
 *   the copy. The other run is refused, and has made nothing public.
 * - *No public fact is lost.* Every public fact was in the copy before it became public. A run that is killed at any point
 *   leaves a copy that is not behind the public files. The next run restores it and applies the generation again, as after any
 *   crash: the same bundle, the same bytes.
 * - *An old copy is noticed.* The public log must be a beginning of the copy's log. Otherwise the copy is old, or of another
 *   log, and nothing is restored.
 * - *A ledger in the data folder* stays if it has restored or made the target's copy. If the target's copy was made after the
 *   ledger's newest copy, it replaces the ledger, which is moved aside: no run has acknowledged the ledger's other changes. In
 *   every other case it is unknown which one is right, and the run is refused.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { TarSource } from 'modern-tar/fs';
import { type PackedPrefix, packedMetadata } from '../../publisher/kernel/files/packed-object.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { put } from '../../storage/ports/changes.ts';
import { checkIsKnown } from '../../storage/ports/format.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { listKeys } from '../../storage/ports/objects.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { SAVED_KEY, type SavedValue } from '../../storage/records/state.ts';
import { openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { makeSnapshot, newSnapshotName, removeSnapshots } from '../backup/control.ts';
import { PARTIAL_SUFFIX } from '../backup/manifest.ts';
import { finishRestore, replaceFiles } from '../backup/put-back.ts';
import { type DataFolder, LEDGER_FILE, openDataFolder } from '../folder/data-folder.ts';
import { checkIsOwnLog } from '../folder/foreign-log.ts';
import { isLedgerEmpty, isLedgerMissing } from '../from-log/begin-from-log.ts';
import { FolderInUse, StartError } from '../service/start-error.ts';
import type { EmbeddedConfig } from '../settings/config.ts';
import { signingKeys } from '../settings/log-key.ts';
import { SECRET_FILES } from '../settings/secret-files.ts';
import { forgetIndex } from '../target/folder-target.ts';
import { openTarget } from '../target/open-target.ts';
import type { StoredState } from '../target/state-store.ts';
import { CHECKPOINT, type PublicTarget, SNAPSHOT } from '../target/target.ts';
import { sealState, unsealState } from './sealed-state.ts';
import type { StateKey } from './state-key.ts';

/** No target gets the log's keys, sealed or not: anybody with the key of the state could sign with them. */
const SECRETS = SECRET_FILES.filter((name) => !name.startsWith('log-key'));
/** Files of the data folder that a restored copy does not replace. */
const STAY = ['uploads', 'archive', ...SECRET_FILES.filter((name) => name.startsWith('log-key'))];
/** Objects that the publisher needs and that are not public: bundles, and layouts of the list. */
const INTERNAL: readonly PackedPrefix[] = ['redo/', 'layout/'];
/** The folder of these objects in the archive. */
const OBJECTS_FOLDER = 'internal';
/** The number of copies whose ids a ledger remembers. A ledger that is older than these is refused. */
const KNOWN_COPIES = 1_000;
const NOTHING_SAVED: SavedValue = { saved: [], pending: null, version: null };

export interface TargetState {
  /**
   * Opens the data folder with the ledger to continue. `replaced`: the folder of the earlier ledger, if the copy has replaced
   * it.
   *
   * @param begin begins a ledger if neither the folder nor the target has one
   * @throws StartError if the copy cannot be used: then nothing was changed
   */
  open(begin: () => Promise<void>): Promise<{ readonly data: DataFolder; readonly replaced: string | null }>;
  /** Puts a copy of the ledger into the target. @throws FolderInUse if another run has put one first: then nothing was changed */
  save(data: DataFolder): Promise<void>;
  /** Whether the target has no copy yet. */
  readonly isMissing: boolean;
  /** Whether a run without the copy has published something that the copy lacks. */
  isBehind(data: DataFolder): Promise<boolean>;
  /** Whether this run has put a copy into the target. */
  readonly isSaved: boolean;
}

export function openTargetState(config: EmbeddedConfig, key: StateKey): TargetState {
  const { dataFolder } = config;
  let version: string | null = null;
  let isSaved = false;

  return {
    async open(begin) {
      const target = await openTarget(dataFolder, config.target);
      const stored = await target.state.find();
      version = stored?.version ?? null;
      if (stored !== null && isLedgerMissing(dataFolder)) return await restore(target, stored, null);
      if (stored === null && (await isLedgerEmpty(dataFolder))) {
        await begin();
        if (await isLedgerEmpty(dataFolder)) await checkIsFirstRun(target);
        return { data: await openDataFolder(dataFolder, config), replaced: null };
      }
      const data = await openDataFolder(dataFolder, config);
      const own = await savedOf(data.ledger);
      if (stored === null || own.version === stored.version) return { data, replaced: null };
      const head = await data.ledger.get(HEAD_KEY);
      const hasPublished = head !== null && (head.revision > 1 || head.value.applied);
      data.close();
      return await restore(target, stored, { ...own, hasPublished });
    },
    async save(data) {
      removeSnapshots(dataFolder);
      const before = await savedOf(data.ledger);
      const id = randomUUID();
      await putSaved(data.ledger, { ...before, pending: id });
      const generation = await generationOf(data.ledger);
      const name = newSnapshotName();
      const sealed = join(dataFolder, `state${PARTIAL_SUFFIX}`);
      try {
        await makeSnapshot({ folder: dataFolder, name, copyLedger: data.copyLedger }, () => {});
        await sealState(await sourcesOf(data, join(dataFolder, name)), sealed, key);
        const next = await data.target.state.replace(version, sealed);
        if (next === null) {
          throw new FolderInUse(
            `Another run has published into ${data.target.name} meanwhile, so this one has published nothing: run it again.`,
          );
        }
        version = next;
      } finally {
        await rm(sealed, { force: true });
        removeSnapshots(dataFolder);
      }
      isSaved = true;
      await putSaved(data.ledger, savedAs(before, id, version, generation));
    },
    async isBehind({ ledger }) {
      return (await generationOf(ledger)) !== (await savedOf(ledger)).generation;
    },
    get isMissing() {
      return version === null;
    },
    get isSaved() {
      return isSaved;
    },
  };

  async function sourcesOf({ objects }: DataFolder, copy: string): Promise<readonly TarSource[]> {
    const secrets = SECRETS.map((name) => ({ target: name, source: join(dataFolder, name) }));
    const files = [{ target: LEDGER_FILE, source: copy }, ...secrets.filter(({ source }) => existsSync(source))];
    const sources: TarSource[] = files.map((file) => ({ type: 'file', ...file }));
    for (const prefix of INTERNAL) {
      for (const key of await listKeys(objects, prefix)) {
        const size = (await objects.stat(key))?.sizeBytes ?? 0;
        const content = Readable.from(bodyOf(objects, key), { objectMode: false });
        sources.push({ type: 'stream', target: `${OBJECTS_FOLDER}/${encodeURIComponent(key)}`, size, content });
      }
    }
    return sources;
  }

  /** @param own the state of the ledger in the folder; null: the folder has no ledger */
  async function restore(
    target: PublicTarget,
    stored: StoredState,
    own: (SavedValue & { readonly hasPublished: boolean }) | null,
  ) {
    const stage = async (folder: string) => {
      await unsealState(stored, folder, target.state, key);
      const copied = await checkCopy(target, join(folder, LEDGER_FILE));
      if (own !== null && isAtOrAfter(own, copied)) throw new OwnIsLater();
      if (own !== null && !isBefore(own, copied)) {
        throw new StartError(
          `The data folder ${dataFolder} and ${target.state.place} have both changed since their last common state. To continue with the target, name another data folder with --data. To continue with the data folder, restore the file that it has written. Nothing was changed.`,
        );
      }
    };
    const nowMs = systemRuntime.nowMs();
    let replaced: string | null;
    try {
      replaced = await replaceFiles({ dataFolder, nowMs, name: target.state.place, stay: STAY, stage });
    } catch (error) {
      if (!(error instanceof OwnIsLater)) throw error;
      return { data: await openDataFolder(dataFolder, config), replaced: null };
    }
    // The index describes the files of the replaced ledger.
    forgetIndex(dataFolder);
    const data = await openDataFolder(dataFolder, { ...config, isRestoring: true });
    try {
      await putObjects(data);
      const { saved, pending } = await savedOf(data.ledger);
      await putSaved(
        data.ledger,
        savedAs({ saved }, pending as string, stored.version, await generationOf(data.ledger)),
      );
      await finishRestore(dataFolder);
      return { data, replaced };
    } catch (error) {
      data.close();
      throw error;
    }
  }

  async function checkIsFirstRun({ name, read, state }: PublicTarget): Promise<void> {
    for (const path of [CHECKPOINT, SNAPSHOT]) {
      if ((await read(path)) === null) continue;
      throw new StartError(
        `${name} has ${path}, and there is no ${state.place}: restore that file, or use --from-log to begin from the public log.`,
      );
    }
  }

  /** Checked before the copy replaces anything: this version must be able to read it, and its log must be the target's log. */
  async function checkCopy(target: PublicTarget, path: string): Promise<SavedValue> {
    const copy = openLedgerCopy(path);
    try {
      await checkIsKnown(copy).catch((error: Error) => {
        throw new StartError(`${target.state.place} cannot be used: ${error.message}`, { cause: error });
      });
      await checkIsOwnLog(target, copy, signingKeys(dataFolder, config.logKey) ?? [], target.state.place);
      return await savedOf(copy);
    } finally {
      copy.close();
    }
  }

  async function putObjects({ objects }: DataFolder): Promise<void> {
    const folder = join(dataFolder, OBJECTS_FOLDER);
    const names = existsSync(folder) ? await readdir(folder) : [];
    for (const name of names) {
      const key = decodeURIComponent(name);
      await objects.put(key, await readFile(join(folder, name)), packedMetadata(key), { kind: 'absent' });
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads the object only when the archive needs it. */
async function* bodyOf(objects: ObjectStore, key: string): AsyncGenerator<Uint8Array> {
  const found = await objects.get(key);
  if (found.kind === 'found') yield found.body;
}

/** Ends a restore, because the ledger in the folder is newer: it stays. */
class OwnIsLater extends StartError {}

async function savedOf(ledger: Pick<Ledger, 'get'>): Promise<SavedValue> {
  return (await ledger.get(SAVED_KEY))?.value ?? NOTHING_SAVED;
}

async function putSaved(ledger: Ledger, value: SavedValue): Promise<void> {
  const attemptId = systemRuntime.newAttemptId();
  await ledger.transact([put(SAVED_KEY, 0, value)], { attemptId });
}

async function generationOf(ledger: Pick<Ledger, 'get'>): Promise<number> {
  return (await ledger.get(HEAD_KEY))?.value.generation ?? 0;
}

function savedAs({ saved }: Pick<SavedValue, 'saved'>, id: string, version: string, generation: number): SavedValue {
  return { saved: [...saved, id].slice(-KNOWN_COPIES), pending: null, version, generation };
}

/** Whether the ledger has restored or made the copy. */
function isAtOrAfter(own: SavedValue, { pending }: SavedValue): boolean {
  return own.pending === pending || own.saved.includes(pending as string);
}

/** Whether the copied ledger contains the newest copy of this one. */
function isBefore(
  { saved, hasPublished }: SavedValue & { readonly hasPublished: boolean },
  copied: SavedValue,
): boolean {
  const newest = saved.at(-1);
  return newest === undefined ? !hasPublished : copied.saved.includes(newest);
}
