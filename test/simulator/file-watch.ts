/** Checks each change of the files beside the bodies for faults that a reader could see. Part of the store's watch. */
import { type PublicObjectName, publicKey } from '../../contract/files/public-objects.ts';
import {
  hasPages,
  idsIn,
  indexedFiles,
  indexedPages,
  indexedTexts,
  indexIn,
  isFile,
  isFileInUse,
  LIST_KEY,
  shownHistory,
  slugsIn,
} from './published.ts';
import type { ObjectEntries, StoredEntry } from './simulated-objects.ts';

export interface WatchedFiles {
  readonly fail: (rule: string, detail: string) => void;
  /** The projections of the committed generation. */
  readonly projections: () => readonly string[];
  /** Whether files of histories wait for their turn. */
  readonly areFilesBehind: () => boolean;
  /** Whether the ledger's records name this file. */
  readonly isRecorded: (name: PublicObjectName) => boolean;
  /** The slugs of this version of the list. */
  readonly slugsOf: (list: StoredEntry) => readonly string[];
}

/** Files of all markets, which follow the list. */
const OF_LIST = ['latest', 'recent'] as const;

export class FileWatch {
  readonly #entries: ObjectEntries;
  readonly #world: WatchedFiles;

  constructor(entries: ObjectEntries, world: WatchedFiles) {
    this.#entries = entries;
    this.#world = world;
  }

  isInUse(name: PublicObjectName): boolean {
    if (!isFile(name.kind)) return true;
    return isFileInUse(this.#entries, name, this.#world.projections()) && this.#world.isRecorded(name);
  }

  checkIndex(slug: string, index: StoredEntry): void {
    for (const key of [...indexedFiles(index), ...indexedPages(slug, index)]) {
      if (!this.#entries.has(key)) this.#world.fail('missing-page', `the index of ${slug} leads to ${key}`);
    }
  }

  /** The files are put between the history and the body of the market, so all of them show the same; or an older state. */
  checkMarket(slug: string): void {
    if (!this.#world.projections().includes('history-files')) return;
    const isBehind = this.#world.areFilesBehind();
    const index = hasPages(this.#entries, slug) ? indexIn(this.#entries, slug) : undefined;
    if (index === undefined && !isBehind && hasPages(this.#entries, slug)) {
      this.#world.fail('missing-page', `market ${slug} is put before its index`);
      return;
    }
    const history = shownHistory(this.#entries, slug).toReversed();
    const right = history.flatMap(({ id, supersededBy }) => (supersededBy === null ? [id] : [])).join(' ');
    const idsOf = (key: string) => {
      const file = this.#entries.get(key);
      return file === undefined ? [] : idsIn(file);
    };
    const whole = history.length > 1 ? [idsOf(publicKey({ kind: 'history-ndjson', slug }))] : [];
    const years = index === undefined ? [] : [indexedTexts(index).flatMap(idsOf)];
    for (const found of [...whole, ...years]) {
      if (
        isBehind &&
        isPartOf(
          found,
          history.map(({ id }) => id),
        )
      )
        continue;
      if (found.join(' ') === right) continue;
      this.#world.fail('older-than-its-link', `the files of ${slug} have ${found.join(' ')}, its history has ${right}`);
    }
  }

  /** The parts are those of the list, once a generation is in place. */
  checkParts(): void {
    const index = this.#entries.get(publicKey({ kind: 'latest' }));
    if (index !== undefined && this.isInUse({ kind: 'latest' })) this.checkOfList('latest', index);
  }

  checkOfList(kind: (typeof OF_LIST)[number], entry: StoredEntry): void {
    const list = this.#entries.get(LIST_KEY);
    const right = list === undefined ? [] : this.#world.slugsOf(list);
    const found = slugsIn(this.#entries, entry);
    if (found?.join(' ') !== right.join(' ')) {
      this.#world.fail('older-than-its-link', `${kind} has ${found}, the list has ${right}`);
    }
  }

  /** A market leaves these files before its bodies say that it is removed. */
  checkGone(slug: string): void {
    for (const kind of OF_LIST) {
      const entry = this.#entries.get(publicKey({ kind }));
      if (entry === undefined || !this.isInUse({ kind }) || !slugsIn(this.#entries, entry)?.includes(slug)) continue;
      this.#world.fail('gone-but-listed', `${slug} is removed, and ${kind} shows it`);
    }
  }
}

/** Whether `all` has the same in the same order, among others. */
function isPartOf(some: readonly string[], all: readonly string[]): boolean {
  const shown = new Set(some);
  return all.filter((one) => shown.has(one)).join(' ') === some.join(' ');
}
