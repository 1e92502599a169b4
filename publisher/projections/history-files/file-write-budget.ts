/**
 * Decides which histories get their files in a generation. One more row writes a whole file again, so a feed of long
 * histories would spend its time on files. A generation writes only a bounded number of bytes of them. The other files
 * wait, and the ledger records them; those that have waited longest come first. docs/decisions/042 gives the reasons.
 *
 * Files of a market that is new, removed or refreshed do not wait.
 */
import type { ItemKey } from '../../../storage/ports/ledger.ts';
import { queryPages } from '../../../storage/ports/paging.ts';
import {
  FILES_BEHIND,
  filesBehindKey,
  type PublishedFiles,
  parseFilesBehind,
} from '../../../storage/records/publication.ts';
import { DEFAULT_HISTORY_FILE_BYTES, MAX_MARKED_MARKETS, type PublisherDependencies } from '../../dependencies.ts';
import type { BundleLine } from '../../kernel/bundle.ts';
import type { MarkedMarket } from '../../kernel/marks.ts';

export class FileWriteBudget {
  readonly #maxBytes: number;
  /** Waiting files that this generation writes: since when they have waited, by slug. */
  readonly #waiting = new Map<string, number>();
  /** Since when the files have waited that this generation does not write. */
  readonly #left: number[] = [];
  #isMoreDue = false;
  readonly #decided = new Map<string, boolean>();
  #bytes = 0;

  private constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Reads the waiting files.
   *
   * @param isAnyWaiting whether files may wait
   * @param deferred the slugs of deferred markets: their files do not block the files of others
   */
  static async read(
    { ledger, historyFileBytes = DEFAULT_HISTORY_FILE_BYTES }: PublisherDependencies,
    isAnyWaiting: boolean,
    deferred: Pick<ReadonlySet<string>, 'has'>,
  ): Promise<FileWriteBudget> {
    const budget = new FileWriteBudget(historyFileBytes);
    if (!isAnyWaiting) return budget;
    for await (const items of queryPages(ledger, FILES_BEHIND)) {
      for (const item of items) {
        const { since, slug } = parseFilesBehind(item);
        if (deferred.has(slug)) budget.#left.push(since);
        else if (budget.#waiting.size < MAX_MARKED_MARKETS && budget.#hasRoomFor(item.value.bytes)) {
          if (!budget.#waiting.has(slug)) budget.#waiting.set(slug, since);
        } else {
          // From here on, no file that has not waited may be written.
          budget.#bytes = budget.#maxBytes;
          budget.#left.push(since);
          budget.#isMoreDue = true;
          return budget;
        }
      }
    }
    return budget;
  }

  #hasRoomFor(bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Markets whose waiting files are due, without the marked ones. */
  unmarked(marked: readonly MarkedMarket[]): readonly MarkedMarket[] {
    const known = new Set(marked.map(({ slug }) => slug));
    const slugs = [...this.#waiting.keys()].filter((slug) => !known.has(slug));
    return slugs.map((slug) => ({ slug, revision: null, isRefresh: false, marks: [] }));
  }

  /** Whether this generation writes the market's files, if the history's sum differs from theirs. */
  isDue(slug: string, files: PublishedFiles | undefined, sum: string | undefined): boolean {
    if (files === undefined || files.sum === sum || this.#waiting.has(slug)) return true;
    const isDue = this.#decided.get(slug) ?? this.#hasRoomFor(files.bytes ?? 0);
    this.#decided.set(slug, isDue);
    return isDue;
  }

  /** The lines that record whether the market's files wait. @param after the files as this generation publishes them */
  lines(slug: string, before: PublishedFiles | undefined, after: PublishedFiles | undefined): readonly BundleLine[] {
    const since = after?.behindSince;
    const known = new Set([before?.behindSince, this.#waiting.get(slug)]);
    const remove = [...known].filter((one) => one !== undefined && one !== since) as number[];
    const record = (key: ItemKey, value: { bytes: number } | null): BundleLine => ({ kind: 'record', key, value });
    return [
      ...remove.map((one) => record(filesBehindKey(one, slug), null)),
      ...(since === undefined || known.has(since)
        ? []
        : [record(filesBehindKey(since, slug), { bytes: after?.bytes ?? 0 })]),
    ];
  }

  /** Call it for each market that the generation includes. */
  recordTaken(slug: string, files: PublishedFiles | undefined): void {
    this.#waiting.delete(slug);
    if (files?.behindSince === undefined) return;
    this.#left.push(files.behindSince);
    this.#isMoreDue = true;
  }

  /**
   * Call it after all markets. Returns since when files wait, for HEAD, and whether the next generation may write some of
   * them.
   */
  end(deferred: Pick<ReadonlySet<string>, 'has'>): { readonly behindSince?: number; readonly areFilesLeft: boolean } {
    const since = [...this.#left, ...this.#waiting.values()];
    const areFilesLeft = this.#isMoreDue || [...this.#waiting.keys()].some((slug) => !deferred.has(slug));
    return since.length === 0 ? { areFilesLeft } : { behindSince: Math.min(...since), areFilesLeft };
  }
}
