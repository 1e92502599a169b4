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

/**
 * Reads the waiting files.
 *
 * @param isAnyWaiting whether files may wait
 * @param deferred the slugs of deferred markets: their files do not block the files of others
 */
export async function readFileWriteBudget(
  { ledger, historyFileBytes: maxBytes = DEFAULT_HISTORY_FILE_BYTES }: PublisherDependencies,
  isAnyWaiting: boolean,
  deferred: Pick<ReadonlySet<string>, 'has'>,
) {
  /** Waiting files that this generation writes: since when they have waited, by slug. */
  const waiting = new Map<string, number>();
  /** Since when the files have waited that this generation does not write. */
  const left: number[] = [];
  const decided = new Map<string, boolean>();
  let isMoreDue = false;
  let bytes = 0;

  const hasRoomFor = (more: number): boolean => {
    if (bytes > 0 && bytes + more > maxBytes) return false;
    bytes += more;
    return true;
  };
  const readWaiting = async (): Promise<void> => {
    for await (const items of queryPages(ledger, FILES_BEHIND)) {
      for (const item of items) {
        const { since, slug } = parseFilesBehind(item);
        if (deferred.has(slug)) left.push(since);
        else if (waiting.size < MAX_MARKED_MARKETS && hasRoomFor(item.value.bytes)) {
          if (!waiting.has(slug)) waiting.set(slug, since);
        } else {
          // From here on, no file that has not waited may be written.
          bytes = maxBytes;
          left.push(since);
          isMoreDue = true;
          return;
        }
      }
    }
  };
  if (isAnyWaiting) await readWaiting();

  return {
    /** Markets whose waiting files are due, without the marked ones. */
    unmarked(marked: readonly MarkedMarket[]): readonly MarkedMarket[] {
      const known = new Set(marked.map(({ slug }) => slug));
      const slugs = [...waiting.keys()].filter((slug) => !known.has(slug));
      return slugs.map((slug) => ({ slug, revision: null, isRefresh: false, marks: [] }));
    },

    /** Whether this generation writes the market's files, if the history's sum differs from theirs. */
    isDue(slug: string, files: PublishedFiles | undefined, sum: string | undefined): boolean {
      if (files === undefined || files.sum === sum || waiting.has(slug)) return true;
      const isDue = decided.get(slug) ?? hasRoomFor(files.bytes ?? 0);
      decided.set(slug, isDue);
      return isDue;
    },

    /** The lines that record whether the market's files wait. @param after the files as this generation publishes them */
    lines(slug: string, before: PublishedFiles | undefined, after: PublishedFiles | undefined): readonly BundleLine[] {
      const since = after?.behindSince;
      const known = new Set([before?.behindSince, waiting.get(slug)]);
      const remove = [...known].filter((one) => one !== undefined && one !== since) as number[];
      const record = (key: ItemKey, value: { bytes: number } | null): BundleLine => ({ kind: 'record', key, value });
      return [
        ...remove.map((one) => record(filesBehindKey(one, slug), null)),
        ...(since === undefined || known.has(since)
          ? []
          : [record(filesBehindKey(since, slug), { bytes: after?.bytes ?? 0 })]),
      ];
    },

    /** Call it for each market that the generation includes. */
    recordTaken(slug: string, files: PublishedFiles | undefined): void {
      waiting.delete(slug);
      if (files?.behindSince === undefined) return;
      left.push(files.behindSince);
      isMoreDue = true;
    },

    /**
     * Call it after all markets. Returns since when files wait, for HEAD, and whether the next generation may write some of
     * them.
     */
    end(of: Pick<ReadonlySet<string>, 'has'>): { readonly behindSince?: number; readonly areFilesLeft: boolean } {
      const since = [...left, ...waiting.values()];
      const areFilesLeft = isMoreDue || [...waiting.keys()].some((slug) => !of.has(slug));
      return since.length === 0 ? { areFilesLeft } : { behindSince: Math.min(...since), areFilesLeft };
    },
  };
}
