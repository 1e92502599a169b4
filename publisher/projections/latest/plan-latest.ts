/** Plans files with the newest price of every market, and its last prices. They have the list's cadence. */
import pMap from 'p-map';
import { type LatestEntry, latestCsv, latestEntry } from '../../../contract/bodies/latest-entries.ts';
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import { type FileAt, generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { LATEST_MARKETS_MAX, RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import type { LIST_FILE_KINDS } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type NewestPrices, newestPrices, readRecentPrices } from '../../core/bodies/recent-prices.ts';
import { DEFAULT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import type { PlannedFiles } from '../../kernel/bundle.ts';
import { rendered } from '../../kernel/files/rendered.ts';
import { storedDigest } from '../../kernel/files/stored-digest.ts';
import { type NewList, NO_PART, type PlanContext, type ProjectionPlan } from '../../kernel/projection.ts';

type Wanted = Pick<PublisherStorage, 'projections'>;

/** Whether a list of this many markets is also published as these files. */
const hasLatest = ({ projections }: Wanted, markets: number): boolean =>
  projections?.has('latest') === true && markets <= LATEST_MARKETS_MAX;

export const hasRecent = ({ projections }: Wanted, markets: number): boolean =>
  projections?.has('recent') === true && markets <= RECENT_MARKETS_MAX;

/** The entries of a page of the list, without the fields that only histories have. */
function latestOfPage(body: string): readonly LatestEntry[] {
  const { data } = JSON.parse(body) as { readonly data: readonly Market[] };
  return data.map((market) => latestEntry(market, null));
}

/** The data of one market that its list item lacks. */
interface Shown {
  readonly recordedAt: string | null;
  readonly recent: RecentEntry | null;
}

type FileKind = (typeof LIST_FILE_KINDS)[number];

/** SHA-256 of each file, in hex, and which generation changed it last. Absent: it is not published. */
export type LatestState = { readonly [Kind in FileKind]?: { readonly digest: string; readonly generation: number } };

interface LatestPlan {
  readonly generation: number;
  /** The entries of the new list. */
  readonly entries: readonly LatestEntry[];
  /** Markets that have changed since the previous list. */
  readonly changed: NewList['changed'];
  /** Prices of the markets that this generation renders: the store may not have their histories yet. */
  readonly newest: ReadonlyMap<string, NewestPrices>;
  readonly before: LatestState;
  /** Whether `before` is the published state, and markets without a change look the same as before. */
  readonly isTrusted: boolean;
}

/**
 * Adds the files that have changed. Reads the histories of changed markets; those of all markets only if the previous files
 * are unknown.
 */
async function addLatest(
  storage: PublisherStorage,
  files: Pick<PlannedFiles, 'add'>,
  { generation, entries, changed, newest, before, isTrusted }: LatestPlan,
): Promise<LatestState> {
  const { objects, concurrency = DEFAULT_CONCURRENCY } = storage;
  const isLatest = hasLatest(storage, entries.length);
  const isRecent = hasRecent(storage, entries.length);
  const known = isTrusted ? await readShown(objects, before, isLatest, isRecent) : null;
  const show = async ({ slug }: LatestEntry): Promise<Shown> => {
    const same = changed.has(slug) ? undefined : known?.(slug);
    if (same !== undefined) return same;
    const prices = await readRecentPrices(objects, slug, newest.get(slug) ?? null, isRecent);
    return { recordedAt: prices.recordedAt, recent: isRecent ? prices.entryWithYear(slug) : null };
  };
  const shown = await pMap(entries, show, { concurrency: concurrency.objects });

  const state: { [Kind in FileKind]?: LatestState[Kind] } = {};
  const put = async (kind: FileKind, textAt: FileAt) => {
    const isKnown = known !== null || (isTrusted && before[kind] === undefined);
    const present = isKnown ? before[kind] : await inStore(objects, kind);
    if (present !== undefined && rendered(textAt(present.generation)).digest === present.digest) {
      state[kind] = present;
      return;
    }
    const { body, digest } = rendered(textAt(generation));
    await files.add({ kind: 'put', key: publicKey({ kind }), body, nextCursor: null });
    state[kind] = { digest, generation };
  };
  if (isLatest) {
    const full = entries.map((entry, index) => ({ ...entry, recordedAt: shown[index]?.recordedAt ?? null }));
    await put('latest', textOf(full));
    await put('latest-csv', latestCsv(full));
  }
  if (isRecent) await put('recent', textOf(shown.map(({ recent }) => recent)));
  return state;
}

const textOf = (data: readonly unknown[]): FileAt => jsonFileAt(`"data":${canonicalJson(data as Json)}`);

/** Undefined: the file is missing, or has wrong metadata or no generation. */
async function inStore(objects: ObjectStore, kind: FileKind): Promise<LatestState[FileKind]> {
  const digest = await storedDigest(objects, { kind });
  const found = digest === null ? null : await objects.get(publicKey({ kind }));
  const generation = found?.kind === 'found' ? generationOfFile(Buffer.from(found.body).toString('utf8')) : null;
  return digest === null || generation === null ? undefined : { digest, generation };
}

/** Reads the published files. Null if a needed file differs from the recorded one. */
async function readShown(
  objects: ObjectStore,
  before: LatestState,
  isLatest: boolean,
  isRecent: boolean,
): Promise<((slug: string) => Shown | undefined) | null> {
  const read = async <Entry extends { readonly slug: string }>(kind: FileKind) => {
    const found = before[kind] === undefined ? null : await objects.get(publicKey({ kind }));
    if (found?.kind !== 'found' || sha256Hex(found.body) !== before[kind]?.digest) return null;
    const { data } = JSON.parse(Buffer.from(found.body).toString()) as { readonly data: readonly Entry[] };
    return new Map(data.map((entry) => [entry.slug, entry]));
  };
  const latest = isLatest ? await read<LatestEntry>('latest') : new Map<string, LatestEntry>();
  const recent = isRecent ? await read<RecentEntry>('recent') : new Map<string, RecentEntry>();
  if (latest === null || recent === null) return null;
  return (slug) => {
    if ((isLatest && !latest.has(slug)) || (isRecent && !recent.has(slug))) return undefined;
    return { recordedAt: latest.get(slug)?.recordedAt ?? null, recent: recent.get(slug) ?? null };
  };
}

export async function planPrices({
  dependencies,
  generation,
  before,
  state,
  isBehind,
  isRenderedOtherwise,
  files,
}: PlanContext): Promise<ProjectionPlan> {
  const { projections } = dependencies;
  const isOn = projections?.has('latest') === true || projections?.has('recent') === true;
  const known = (state ?? {}) as LatestState;
  let next: LatestState = known;
  let isPlanned = false;
  /**
   * Unchanged markets count too: if the store has lost the market's history, it has it again only when this generation is
   * applied.
   */
  const newest = new Map<string, NewestPrices>();
  return {
    needsList: isBehind || !isRight(dependencies, before?.list.markets ?? 0, known, isRenderedOtherwise),
    async market({ view }) {
      if (!isOn || !view.isShown) return undefined;
      return {
        async finish(history) {
          const prices = newestPrices(history, view.record?.value.unit.quantity ?? 1);
          return { ...NO_PART, taken: () => newest.set(view.slug, prices) };
        },
      };
    },
    ofPage: (markets) => (hasLatest(dependencies, markets) || hasRecent(dependencies, markets) ? latestOfPage : null),
    async list({ entries, changed, isPreviousKnown }) {
      isPlanned = true;
      // An earlier version may have shown other values of the same history.
      const isTrusted = isPreviousKnown && !isBehind && !isRenderedOtherwise && before?.list.isDoubtful !== true;
      next = await addLatest(dependencies, files, {
        generation,
        entries: entries as readonly LatestEntry[],
        changed,
        newest,
        before: known,
        isTrusted,
      });
    },
    finish: async () => ({
      state: Object.keys(next).length === 0 ? undefined : { ...next },
      isCurrent: isPlanned || !isBehind,
    }),
  };
}

/** Whether the published files are the ones that this version would publish, no more and no fewer. */
function isRight(
  dependencies: PlanContext['dependencies'],
  markets: number,
  { latest, recent }: LatestState,
  isRenderedOtherwise: boolean,
): boolean {
  const isLatest = hasLatest(dependencies, markets);
  const isRecent = hasRecent(dependencies, markets);
  if (isLatest !== (latest !== undefined) || isRecent !== (recent !== undefined)) return false;
  return !(isLatest || isRecent) || !isRenderedOtherwise;
}
