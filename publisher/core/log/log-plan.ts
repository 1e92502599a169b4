/**
 * The part of a generation that the log contributes. Entries are appended in the order in which the plan takes markets. All
 * changes of the log go into the bundle: tiles, the ledger's records of them, and the signed checkpoint. So none of them is
 * public before the swap, and applying the generation again writes the same bytes.
 *
 * Memory holds the entries of one tile, and one tile of hashes for each level.
 */

import { publicKey } from '../../../contract/files/public-objects.ts';
import { checkpointText } from '../../../contract/log/checkpoint.ts';
import { entryText, LOG_FORMAT, type ServiceEntry } from '../../../contract/log/entries.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { parseVkey, signNote } from '../../../contract/log/notes.ts';
import { TILE_WIDTH } from '../../../contract/log/tiles.ts';
import type { HashTile } from '../../../contract/log/tree.ts';
import type { Item, Ledger } from '../../../storage/ports/ledger.ts';
import { readPage } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { MarketRecordValue } from '../../../storage/records/markets.ts';
import type { HeadValue, LogState, PublishedHeads } from '../../../storage/records/publication.ts';
import { DUE_TAKEDOWNS, idOfDueTakedown } from '../../../storage/records/takedowns.ts';
import type { LogSettings, PublisherDependencies } from '../../dependencies.ts';
import { LogForked } from '../../errors.ts';
import type { BundleWriter } from '../../kernel/bundle.ts';
import type { LogNeed } from '../../kernel/market-view.ts';
import { chunkRecords } from './log-chunks.ts';
import { hashRecords, type LogEdge, NO_LOG, readEdge } from './log-edge.ts';
import { entryTiles, hashTile, type MadeTile } from './log-tiles.ts';
import type { reconcileLog } from './reconcile-log.ts';

/** The code is loaded only after a repair or a restore, which is rare. */
const reconcile: typeof reconcileLog = async (...parts) =>
  await (await import('./reconcile-log.ts')).reconcileLog(...parts);

export class LogPlan {
  readonly #dependencies: PublisherDependencies;
  readonly #settings: LogSettings;
  readonly #bundle: BundleWriter;
  readonly #generation: number;
  readonly #before: LogState;
  /** Whether the checkpoint must be put again, even if the log does not grow. */
  readonly #isCheckpointDue: boolean;
  /** Null until the first entry is appended. */
  #edge: LogEdge | null = null;
  /** The index in the open tile from which entries are new or taken down. */
  #newFrom = 0;
  /** The number of entries that the generation takes down. */
  #takenDown = 0;
  #hasTakedown = false;
  #isTakedownDue = false;

  /**
   * Null if the deployment has no log.
   *
   * @throws LogForked if the log cannot continue
   */
  static async open(
    dependencies: PublisherDependencies,
    bundle: BundleWriter,
    generation: number,
    before: HeadValue | null,
  ): Promise<LogPlan | null> {
    const { log } = dependencies;
    if (log === undefined) return null;
    const isDoubtful = before?.log?.isDoubtful === true;
    const state = before !== null && isDoubtful ? await reconcile(dependencies, before) : (before?.log ?? NO_LOG);
    assertSameName(log, state);
    const isFirst = before?.log === undefined;
    const plan = new LogPlan(dependencies, log, bundle, generation, state, isFirst || isDoubtful);
    const takedown = await firstDueTakedown(dependencies.ledger);
    plan.#hasTakedown = takedown !== null;
    // A takedown needs the removal of its market in the log. After a restore, this generation states the removal again
    // first.
    if (takedown !== null && state.resetBefore === undefined) await plan.#takeDown(takedown);
    else plan.#isTakedownDue = takedown !== null;
    await plan.#appendKeys();
    return plan;
  }

  private constructor(
    dependencies: PublisherDependencies,
    settings: LogSettings,
    bundle: BundleWriter,
    generation: number,
    before: LogState,
    isCheckpointDue: boolean,
  ) {
    this.#dependencies = dependencies;
    this.#settings = settings;
    this.#bundle = bundle;
    this.#generation = generation;
    this.#before = before;
    this.#isCheckpointDue = isCheckpointDue;
  }

  readonly needOf = (published: Item<PublishedHeads> | null, record: Item<MarketRecordValue> | null): LogNeed => {
    const { resetBefore = 0 } = this.#before;
    if (resetBefore > (published?.revision ?? 0)) return 'restate';
    if (published === null) return 'unpublished';
    const { logged } = published.value;
    if (logged !== undefined && (record?.value.repairedRevision ?? 0) > logged) return 'restate';
    return logged === published.value.revision ? 'unpublished' : 'all';
  };

  /** Whether a takedown has entries left. @param hasGone whether the generation publishes the removal of a market */
  isTakedownLeft(hasGone: boolean): boolean {
    return this.#isTakedownDue || (this.#hasTakedown && hasGone);
  }

  async append(texts: Iterable<string>): Promise<void> {
    for (const text of texts) {
      const edge = this.#edge ?? (await this.#openEdge());
      edge.open.push(text);
      const filled = edge.tree.append(leafHash(text));
      if (filled.length === 0) continue;
      await this.#addEntries(edge.open, Math.floor((edge.tree.size - 1) / TILE_WIDTH));
      await this.#addHashes(filled);
      edge.open.length = 0;
      this.#newFrom = 0;
    }
  }

  /**
   * The new state of the log. Call it once, after the last entry.
   *
   * @param isAnyUnknown whether markets still wait for their refresh
   * @param service the list of published kinds; null: some of their files are not published yet
   */
  async finish(isAnyUnknown: boolean, service: ServiceEntry | null): Promise<LogState> {
    const { resetBefore, ...before } = this.#before;
    const stated = service === null ? before.service : await this.#appendService(service);
    const edge = this.#edge;
    let { size, root } = before;
    if (edge !== null) {
      size = edge.tree.size;
      root = edge.tree.root().toString('base64');
      const n = Math.floor(size / TILE_WIDTH);
      if (edge.open.length > 0) await this.#addEntries(edge.open, n);
      await this.#addHashes(edge.tree.partialTiles(before.size));
    }
    const vkeys = this.#vkeys;
    const isSignedAnew = this.#isCheckpointDue || vkeys.join() !== before.vkeys.join();
    if (size > before.size || isSignedAnew) await this.#addCheckpoint(size, root);
    if (isSignedAnew) await this.#addVkeys();
    const was = { size: before.size, root: before.root, vkeys: before.vkeys, service: before.service ?? '' };
    const stillReset = resetBefore === undefined || !isAnyUnknown ? {} : { resetBefore };
    const takenDown = (before.takenDown ?? 0) + this.#takenDown;
    const serviceDigest = stated === undefined ? {} : { service: stated };
    return { size, root, vkeys, was, ...serviceDigest, ...stillReset, ...(takenDown === 0 ? {} : { takenDown }) };
  }

  /** All verifier keys that the log names from this generation on. */
  get #vkeys(): string[] {
    const { signers, announced = [] } = this.#settings;
    return [...new Set([...signers.map(({ vkey }) => vkey), ...announced])];
  }

  /** Appends an entry for each key that the log does not name yet. */
  async #appendKeys(): Promise<void> {
    // Readers know the first signing keys from the operator. An announced key always needs an entry.
    const first = this.#before.vkeys.length === 0 ? this.#settings.signers.map(({ vkey }) => vkey) : [];
    const known = new Set([...this.#before.vkeys, ...first]);
    const added = this.#vkeys.filter((vkey) => !known.has(vkey));
    await this.append(added.map((vkey) => entryText({ format: LOG_FORMAT, type: 'key', vkey })));
  }

  /** Appended last, so that it follows the entries of all markets. Returns its digest. */
  async #appendService(service: ServiceEntry): Promise<string> {
    const text = entryText(service);
    const digest = sha256Hex(text).slice(0, 12);
    if (digest !== this.#before.service) await this.append([text]);
    return digest;
  }

  /** Comes first in the plan: later entries of the open tile are then appended to a tile without the removed texts. */
  async #takeDown(id: string): Promise<void> {
    const { nextTakedownStep } = await import('./take-down.ts');
    const step = await nextTakedownStep(this.#dependencies, id, this.#generation, this.#before.size);
    if (step === null) return;
    for (const line of step.lines) await this.#bundle.add(line);
    this.#takenDown = step.count;
    this.#isTakedownDue = step.isMoreDue;
    if (step.open !== null) {
      const { open } = await this.#openEdge();
      open.splice(0, open.length, ...step.open.entries);
      this.#newFrom = step.open.from;
    }
    await this.append(step.announcements);
  }

  async #openEdge(): Promise<LogEdge> {
    if (this.#edge === null) {
      this.#edge = await readEdge(this.#dependencies.ledger, this.#before);
      this.#newFrom = this.#edge.open.length;
    }
    return this.#edge;
  }

  async #addEntries(entries: readonly string[], tile: number): Promise<void> {
    for (const record of chunkRecords(tile, entries, this.#newFrom)) await this.#bundle.add(record);
    for (const made of entryTiles(tile, entries.length, async () => entries)) await this.#addTile(made);
  }

  async #addHashes(tiles: readonly HashTile[]): Promise<void> {
    for (const { level, n, width, hashes } of tiles) await this.#addTile(hashTile(level, n, width, async () => hashes));
    for (const record of hashRecords(tiles)) await this.#bundle.add(record);
  }

  async #addTile({ key, make }: MadeTile): Promise<void> {
    const { body, ...more } = await make();
    await this.#bundle.add({ kind: 'tile', key, body: body.toString('base64'), ...more });
  }

  /** Adds the file of the keys that sign now: newest first, one a line. */
  async #addVkeys(): Promise<void> {
    const body = this.#settings.signers.map(({ vkey }) => `${vkey}\n`).join('');
    await this.#bundle.add({ kind: 'put', key: publicKey({ kind: 'log-vkey' }), body, nextCursor: null });
  }

  async #addCheckpoint(size: number, root: string): Promise<void> {
    const { origin, signers } = this.#settings;
    const text = checkpointText({ origin, size, root: Buffer.from(root, 'base64') });
    const body = await signNote(text, signers);
    await this.#bundle.add({ kind: 'put', key: publicKey({ kind: 'log-checkpoint' }), body, nextCursor: null });
  }
}

/** The names that the log may have. Empty: the log has no entry yet, and may get any name. */
export function namesOfLog({ vkeys, name }: Pick<LogState, 'vkeys' | 'name'>): readonly string[] {
  return name === undefined ? vkeys.map((vkey) => parseVkey(vkey).name) : [name];
}

/** A ledger's log cannot continue under another name: readers of that name would see the entries of a foreign log. */
function assertSameName({ origin }: LogSettings, state: LogState): void {
  const names = namesOfLog(state);
  if (names.length === 0 || names.includes(origin)) return;
  throw new LogForked(
    `the log of this ledger is ${names[0]}, and ${origin} is configured: the name of a log never changes`,
  );
}

async function firstDueTakedown(ledger: Ledger): Promise<string | null> {
  const [first] = (await readPage(ledger, DUE_TAKEDOWNS, { limit: 1 })).items;
  return first === undefined ? null : idOfDueTakedown(first);
}
