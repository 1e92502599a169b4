/**
 * Checks each change of the store for faults that a reader could see: an older body after a newer one, a link to nothing or
 * to an older body, an immutable object with other bytes, a page that is deleted too early.
 */
import { CURSOR_LIFETIME_SECONDS, FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import { STATIC_KINDS } from '../../contract/files/public-object-names.ts';
import {
  type PublicObjectKind,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
} from '../../contract/files/public-objects.ts';
import { FileWatch } from './file-watch.ts';
import { LogWatch } from './log-watch.ts';
import {
  bodyOf,
  chainOf,
  indexedPages,
  isGone,
  LIST_KEY,
  type ListedMarket,
  pageItems,
  SNAPSHOT_KEY,
  shownHistory,
} from './published.ts';
import type { ObjectEntries, StoredEntry, StoreWitness } from './simulated-objects.ts';

/** A cache may hand out a list this late. Its cursors must work for their lifetime from then on. */
const KEPT_MS = (CURSOR_LIFETIME_SECONDS + FRESH_SECONDS + STALE_IF_ERROR_SECONDS) * 1000;

/** A deployment is undone. */
const CAN_COME_BACK: readonly PublicObjectKind[] = STATIC_KINDS;

export interface WatchedWorld {
  readonly nowMs: () => number;
  readonly fail: (rule: string, detail: string) => void;
  /** Whether the ledger has this market. */
  readonly isThere: (slug: string) => boolean;
  /** Whether the ledger says that the published list is not known. */
  readonly isDoubtful: () => boolean;
  /** The size of the log by the ledger's HEAD. */
  readonly committedSize: () => number;
  /** The projections by the ledger's HEAD. */
  readonly projections: () => readonly string[];
  /** Whether files of histories wait for their turn, by the ledger's HEAD. */
  readonly areFilesBehind: () => boolean;
  /** Whether the ledger's records name this file. */
  readonly isRecorded: (name: PublicObjectName) => boolean;
}

export class StoreWatch implements StoreWitness {
  readonly #entries: ObjectEntries;
  readonly #nowMs: () => number;
  readonly #fail: (rule: string, detail: string) => void;
  readonly #isThere: (slug: string) => boolean;
  readonly #isDoubtful: () => boolean;
  /** By key; kept for ever. */
  readonly #immutable = new Map<string, string>();
  readonly #newest = new Map<string, number>();
  /** The last generation before the latest restore; 0 without a restore. */
  lastOfBefore = 0;
  /** A late request has put an old body, because its bytes came back: an operator must publish everything again. */
  isBodyOld = false;
  /** The pages of each first page, and the time when former pages left it. */
  readonly #chains = new Map<string, ReadonlySet<string>>();
  readonly #retiredAtMs = new Map<string, number>();
  /** For each version of the list's first page, all its markets as `slug@revision`. */
  readonly #lists = new Map<string, readonly string[]>();
  /** All versions of each first page or body, with the time of each put. */
  readonly #versions = new Map<string, { readonly etag: string; readonly sinceMs: number }[]>();
  readonly log: LogWatch;
  readonly #files: FileWatch;

  constructor(entries: ObjectEntries, world: WatchedWorld) {
    const { nowMs, fail, isThere, isDoubtful, committedSize, projections, areFilesBehind, isRecorded } = world;
    this.#entries = entries;
    this.#nowMs = nowMs;
    this.#fail = fail;
    this.#isThere = isThere;
    this.#isDoubtful = isDoubtful;
    let isBase = true;
    const sizeOf = () => (isBase ? Number.MAX_SAFE_INTEGER : committedSize());
    this.log = new LogWatch(entries, { nowMs, fail, committedSize: sizeOf, keptMs: KEPT_MS });
    const slugsOf = ({ etag }: StoredEntry) =>
      (this.#lists.get(etag) ?? []).map((item) => item.split('@')[0] as string);
    this.#files = new FileWatch(entries, {
      fail,
      projections: () => (isBase ? [] : projections()),
      areFilesBehind,
      isRecorded,
      slugsOf,
    });
    for (const [key, entry] of entries) this.put(key, entry, undefined);
    isBase = false;
  }

  /** The result of a walk that begins with this version of the list. */
  listOf(etag: string): readonly string[] | undefined {
    return this.#lists.get(etag);
  }

  versionsOf(key: string): readonly { readonly etag: string; readonly sinceMs: number }[] {
    return this.#versions.get(key) ?? [];
  }

  /** After a restore, revisions may be reused. Generations only grow. */
  ledgerGoesBack(): void {
    this.lastOfBefore = Math.max(...this.#newest.values(), 0);
  }

  put(key: string, entry: StoredEntry, before: StoredEntry | undefined): void {
    const name = parsePublicKey(key);
    // Of an earlier version.
    if (key === 'public/api/v1/latest.csv') return;
    if (name === null || 'cursor' in name || 'tile' in name) {
      if (name !== null && 'tile' in name) this.log.tilePut(key);
      // No checkpoint has led to it yet: it was of a generation that was given up.
      const isUnseen = name !== null && 'tile' in name && !this.log.isTileShown(key);
      const bytes = isUnseen ? undefined : this.#immutable.get(key);
      if (before !== undefined && !isUnseen) this.#fail('immutable', `${key} is swapped`);
      if (bytes !== undefined && bytes !== entry.etag) this.#fail('immutable', `${key} once had other bytes`);
      this.#immutable.set(key, entry.etag);
      return;
    }
    const { generation } = entry.metadata;
    const newest = this.#newest.get(key) ?? 0;
    if (generation < newest) this.#checkLate(key, name.kind, generation, newest, before);
    if (generation === newest && before !== undefined && before.etag !== entry.etag) {
      this.#fail('going-back', `generation ${generation} puts two bodies of ${key}`);
    }
    this.#newest.set(key, generation);
    const versions = this.#versions.get(key) ?? [];
    versions.push({ etag: entry.etag, sinceMs: this.#nowMs() });
    this.#versions.set(key, versions);
    if (name.kind === 'log-checkpoint') this.log.checkpointPut(entry);
    if ('slug' in name) this.#checkGone(key, name.slug, entry, before);
    if (name.kind === 'market' && !isGone(entry)) this.#checkMarket(name.slug, entry, before);
    if (name.kind === 'history') this.#checkPages(key, entry);
    if (name.kind === 'history-index') this.#checkIndex(key, name.slug, entry);
    if (generation >= newest && name.kind === 'recent') this.#files.checkOfList(name.kind, entry);
    if (name.kind === 'market-list') this.#checkList(key, entry);
    if (name.kind === 'snapshot') {
      this.#checkSnapshot(entry);
      // An earlier version that applies a generation of this one puts the index before the parts, whose names it does not know.
      if (generation >= newest) this.#files.checkParts();
    }
  }

  /**
   * A late request of a former generation. The bytes of some kinds can come back: then such a request cannot be fenced
   * (publisher/kernel/files/fenced-put.ts).
   */
  #checkLate(
    key: string,
    kind: PublicObjectKind,
    generation: number,
    newest: number,
    before: StoredEntry | undefined,
  ): void {
    const shown = this.versionsOf(key).filter(({ etag }) => etag === before?.etag).length;
    if (CAN_COME_BACK.includes(kind) && shown > 1) this.isBodyOld = true;
    else this.#fail('going-back', `${key} of generation ${newest} is replaced by ${generation}`);
  }

  deleted(key: string, _entry: StoredEntry): void {
    const name = parsePublicKey(key);
    if (name === null) return;
    if ('tile' in name) {
      this.log.tileDeleted(key);
      return;
    }
    if (!('cursor' in name)) {
      // A restore may have lost the market. Later its body is swept.
      const isLost = 'slug' in name && !this.#isThere(name.slug);
      if (!isLost && this.#files.isInUse(name)) this.#fail('deleted-in-use', `${key} is no page, and was deleted`);
      this.#chains.delete(key);
      return;
    }
    for (const [head, chain] of this.#chains) {
      if (chain.has(key) && this.#files.isInUse(parsePublicKey(head) as PublicObjectName))
        this.#fail('deleted-in-use', `${key} is deleted, and behind ${head}`);
    }
    const retiredAtMs = this.#retiredAtMs.get(key);
    if (retiredAtMs !== undefined && this.#nowMs() - retiredAtMs < KEPT_MS) {
      const hours = ((this.#nowMs() - retiredAtMs) / 3_600_000).toFixed(1);
      this.#fail('deleted-in-use', `${key} is deleted ${hours} h after the last list that led to it was replaced`);
    }
  }

  #checkMarket(slug: string, entry: StoredEntry, before: StoredEntry | undefined): void {
    const { revision, history } = bodyOf<ListedMarket>(entry);
    const isOld = before === undefined || before.metadata.generation <= this.lastOfBefore;
    const revisionBefore = isOld ? 0 : bodyOf<ListedMarket>(before).revision;
    if (revision < revisionBefore) {
      this.#fail('going-back', `market ${slug} goes back from revision ${revisionBefore} to ${revision}`);
    }
    const shown = shownHistory(this.#entries, slug).length;
    if (shown < history.count) {
      this.#fail('older-than-its-link', `market ${slug} counts ${history.count}, its history shows ${shown}`);
    }
    this.#files.checkMarket(slug);
  }

  /** A market leaves the list before its bodies say that it is removed, and it does not come back. */
  #checkGone(key: string, slug: string, entry: StoredEntry, before: StoredEntry | undefined): void {
    if (!isGone(entry)) {
      const isOfBefore = before === undefined || before.metadata.generation <= this.lastOfBefore;
      if (before !== undefined && isGone(before) && !isOfBefore) this.#fail('going-back', `${key} is back`);
      return;
    }
    const list = this.#entries.get(LIST_KEY);
    // After a restore, the list comes last.
    if (list === undefined || this.#isDoubtful()) return;
    const isListed = this.#lists.get(list.etag)?.some((item) => item.startsWith(`${slug}@`));
    if (isListed) this.#fail('gone-but-listed', `${key} says that its market is removed, and the list shows it`);
    this.#files.checkGone(slug);
  }

  #checkPages(key: string, entry: StoredEntry): void {
    const chain = new Set<string>();
    for (const page of chainOf(this.#entries, key, entry)) {
      if (page.entry === null) this.#fail('missing-page', `${key} leads to ${page.key}, which is not there`);
      chain.add(page.key);
    }
    this.#setChain(key, chain);
  }

  #checkIndex(key: string, slug: string, entry: StoredEntry): void {
    if (!isGone(entry)) this.#files.checkIndex(slug, entry);
    this.#setChain(key, new Set(indexedPages(slug, entry)));
  }

  #setChain(key: string, chain: ReadonlySet<string>): void {
    for (const page of chain) this.#retiredAtMs.delete(page);
    for (const left of this.#chains.get(key) ?? []) {
      if (!chain.has(left)) this.#retiredAtMs.set(left, this.#nowMs());
    }
    this.#chains.set(key, chain);
  }

  #checkList(key: string, entry: StoredEntry): void {
    this.#checkPages(key, entry);
    const pages = [entry, ...chainOf(this.#entries, key, entry).flatMap((page) => page.entry ?? [])];
    const items = pages.flatMap((page) => pageItems<ListedMarket>(page));
    this.#lists.set(
      entry.etag,
      items.map(({ slug, revision }) => `${slug}@${revision}`),
    );
    for (const { slug, revision } of items) {
      const body = this.#entries.get(publicKey({ kind: 'market', slug }));
      const found = body === undefined || isGone(body) ? 'nothing' : bodyOf<ListedMarket>(body).revision;
      if (found === 'nothing' || found < revision) {
        this.#fail('older-than-its-link', `the list has ${slug} of revision ${revision}, its body is ${found}`);
      }
    }
  }

  #checkSnapshot(entry: StoredEntry): void {
    const { generation } = bodyOf<{ generation: number }>(entry);
    const list = this.#entries.get(LIST_KEY);
    if (list === undefined) this.#fail('older-than-its-link', `${SNAPSHOT_KEY} is put before there is a list`);
    if (generation !== entry.metadata.generation) this.#fail('going-back', `${SNAPSHOT_KEY} is of ${generation}`);
  }
}
