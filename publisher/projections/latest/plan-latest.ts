/** Plans files with the newest price of every market, and its last prices. They have the list's cadence. */
import pMap from 'p-map';
import type { RecentEntry } from '../../../contract/bodies/recent-prices.ts';
import { jsonFileAt } from '../../../contract/files/file-generation.ts';
import { CURSOR_LIFETIME_SECONDS, RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { type NewestPrices, newestPrices } from '../../core/bodies/recent-prices.ts';
import { DEFAULT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { type NewList, NO_PART, type PlanContext, type ProjectionPlan } from '../../kernel/projection.ts';
import { digitsFor, indexText, readIndex, readText } from './parts.ts';
import { type PlacedFile, place, placedInStore, planParts } from './plan-parts.ts';
import { ShownPrices } from './shown-prices.ts';

type Wanted = Pick<PublisherStorage, 'projections'>;

const hasLatest = ({ projections }: Wanted): boolean => projections?.has('latest') === true;

export const hasRecent = ({ projections }: Wanted, markets: number): boolean =>
  projections?.has('recent') === true && markets <= RECENT_MARKETS_MAX;

/** Absent: it is not published. */
export interface LatestState {
  /** The index of the newest prices. `digits`: the length of the names of its parts. */
  readonly latest?: PlacedFile & { readonly digits: number };
  readonly recent?: PlacedFile;
  /** Until then, parts that the index does not name stay for readers of an earlier index. In milliseconds since the epoch. */
  readonly partsKeptUntilMs?: number;
  /** Another renderer made the files, and no list was published since. */
  readonly isOtherwise?: true;
}

interface LatestPlan {
  readonly context: PlanContext;
  readonly list: NewList;
  readonly before: LatestState;
  /** Whether `before` is the published state, and markets without a change look the same as before. */
  readonly isTrusted: boolean;
  readonly prices: ShownPrices;
}

export async function planPrices(context: PlanContext): Promise<ProjectionPlan> {
  const { dependencies, before, isBehind, isRenderedOtherwise } = context;
  const { projections, objects } = dependencies;
  const isOn = projections?.has('latest') === true || projections?.has('recent') === true;
  const known = (context.state ?? {}) as LatestState;
  const isOtherwise = isRenderedOtherwise || known.isOtherwise === true;
  let next: LatestState = isOtherwise && context.state !== undefined ? { ...known, isOtherwise: true } : known;
  let isPlanned = false;
  /**
   * Unchanged markets count too: if the store has lost the market's history, it has it again only when this generation is
   * applied.
   */
  const newest = new Map<string, NewestPrices>();
  return {
    needsList: isBehind || !isRight(dependencies, before?.list.markets ?? 0, known, isOtherwise),
    async market({ view }) {
      if (!isOn || !view.isShown) return undefined;
      return {
        async finish(history) {
          const prices = newestPrices(history, view.record?.value.unit.quantity ?? 1);
          return { ...NO_PART, taken: () => newest.set(view.slug, prices) };
        },
      };
    },
    async list(list) {
      isPlanned = true;
      // An earlier version may have shown other values of the same history.
      const isTrusted = list.isPreviousKnown && !isBehind && !isOtherwise && before?.list.isDoubtful !== true;
      const isRecent = hasRecent(dependencies, list.markets);
      const plan = {
        ...{ context, list, before: known, isTrusted },
        prices: new ShownPrices(objects, newest, isRecent),
      };
      next = {
        ...(hasLatest(dependencies) && (await addLatest(plan))),
        ...(isRecent && { recent: await addRecent(plan) }),
      };
    },
    finish: async () => ({
      state: Object.keys(next).length === 0 ? undefined : ({ ...next } as unknown as Json),
      isCurrent: isPlanned || !isBehind,
    }),
  };
}

/** Whether the published files are the ones that this version would publish, no more and no fewer. */
function isRight(
  dependencies: PlanContext['dependencies'],
  markets: number,
  state: LatestState,
  isOtherwise: boolean,
): boolean {
  const isLatest = hasLatest(dependencies);
  const isRecent = hasRecent(dependencies, markets);
  if (isLatest !== (state.latest !== undefined) || isRecent !== (state.recent !== undefined)) return false;
  return !(isLatest || isRecent) || !isOtherwise;
}

async function addLatest({ context, list, before, isTrusted, prices }: LatestPlan): Promise<LatestState> {
  const { dependencies } = context;
  const index = before.latest;
  const digits = digitsFor(list.markets, dependencies.pageSizes.latest);
  const isCutAlike = isTrusted && index?.digits === digits;
  const known = isCutAlike ? await readIndex(dependencies.objects, index.digest) : null;
  const parts = await planParts({ context, list, digits, known, prices });
  const present = known === null ? await placedInStore(context, { kind: 'latest' }) : index;
  const placed = { ...(await place(context, { kind: 'latest' }, indexText(parts), present)), digits };
  const named = new Set(parts.map(({ part }) => part));
  const isPartGone = known === null ? index !== undefined : known.some(({ part }) => !named.has(part));
  const nowMs = dependencies.nowMs();
  const keptUntilMs = isPartGone ? nowMs + CURSOR_LIFETIME_SECONDS * 1000 : (before.partsKeptUntilMs ?? 0);
  return { latest: placed, ...(keptUntilMs > nowMs && { partsKeptUntilMs: keptUntilMs }) };
}

/** The histories of markets with a change are read; those of all markets only if the file before is not known. */
async function addRecent({ context, list, before, isTrusted, prices }: LatestPlan): Promise<PlacedFile> {
  const { objects, concurrency = DEFAULT_CONCURRENCY } = context.dependencies;
  const text = isTrusted && before.recent ? await readText(objects, { kind: 'recent' }, before.recent.digest) : null;
  const known = text === null ? null : (JSON.parse(text) as { readonly data: readonly RecentEntry[] }).data;
  const entries = new Map(known?.map((entry) => [entry.slug, entry]));
  const changed: string[] = [];
  if (known === null) {
    for await (const body of list.pages())
      for (const { slug } of (JSON.parse(body) as { readonly data: readonly { readonly slug: string }[] }).data)
        changed.push(slug);
  }
  for (const [slug, { isListed }] of known === null ? [] : list.changed) {
    if (isListed) changed.push(slug);
    else entries.delete(slug);
  }
  const recentOf = async (slug: string) => (await prices.of(slug)).recent as RecentEntry;
  for (const entry of await pMap(changed, recentOf, { concurrency: concurrency.objects }))
    entries.set(entry.slug, entry);
  const data = [...entries.values()].sort((one, other) => (one.slug < other.slug ? -1 : 1));
  const present = known === null ? await placedInStore(context, { kind: 'recent' }) : before.recent;
  return await place(
    context,
    { kind: 'recent' },
    jsonFileAt(`"data":${canonicalJson(data as unknown as Json)}`),
    present,
  );
}
