/** Histories as files: whole and by year, in CSV and NDJSON, with an index. */
import { HISTORY_FORMATS } from '../../../contract/bodies/history-rows.ts';
import { HISTORY_FILE_KINDS } from '../../../contract/files/public-object-names.ts';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import { readAll, readEach } from '../../../storage/ports/paging.ts';
import {
  type HeadValue,
  type PublishedFiles,
  publishedHeadsKey,
  publishedYearKey,
  publishedYearsOf,
  yearOf,
} from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { publishedHeads } from '../../kernel/marks.ts';
import {
  type MarketContext,
  type MarketPart,
  NO_PART,
  type OwnedObject,
  type PlanContext,
  type ProjectionPlan,
  type Projector,
} from '../../kernel/projection.ts';
import { historyFileName } from './file-prefixes.ts';
import { readFileWriteBudget } from './file-write-budget.ts';
import { behind, hasHistoryFiles, MarketFiles, openFiles } from './plan-files.ts';

/** The state while files wait: each file shows its market at the generation before this one, or later. */
type State = { readonly behindSince: number };

export const historyFiles: Projector = {
  name: 'history-files',
  kinds: HISTORY_FILE_KINDS,
  // With two years: an index, and three files in two formats.
  filesOfMarket: 7,
  checkMarket: async (bodies) => await (await import('./check.ts')).checkHistoryFiles(bodies),
  plan,
  reachable: { unreachable, published },
  shownOf: (state) => ({ filesGeneration: (state as State).behindSince - 1 }),
};

async function plan({ dependencies, before, state, deferred }: PlanContext): Promise<ProjectionPlan> {
  const mayHaveMore = before !== null && wasInDoubt(before);
  // A restored ledger may have records of waiting files of which its HEAD knows nothing.
  const budget = await readFileWriteBudget(dependencies, state !== undefined || mayHaveMore, deferred);
  const withBudget = ({ view: { slug, published } }: MarketContext, part: MarketPart): MarketPart => ({
    ...part,
    lines: [...part.lines, ...budget.lines(slug, published?.files, part.files)],
    taken: () => budget.recordTaken(slug, part.files),
  });
  return {
    unmarked: (marked) => budget.unmarked(marked),
    wantsRows: ({ slug, isRefresh }, published, record) =>
      hasHistoryFiles(dependencies) && (isRefresh || budget.isDue(slug, published?.files, record?.value.sum)),
    async market(context) {
      const files = await openFiles(context, mayHaveMore);
      if (!(files instanceof MarketFiles)) return files && { finish: async () => withBudget(context, files) };
      return {
        read: ({ order, observation }) => files.rows.add(order, observation),
        get position() {
          return files.rows.position;
        },
        flush: () => files.flush(),
        async finish(history) {
          const part = await files.finish(history);
          return part && withBudget(context, part);
        },
      };
    },
    missed(context) {
      const files = context.view.published?.files;
      return files === undefined
        ? NO_PART
        : withBudget(context, { ...NO_PART, files: behind(files, context.generation) });
    },
    async finish({ deferred: marketsDeferred }) {
      const { behindSince, areFilesLeft } = budget.end(marketsDeferred);
      const left: Json | undefined = behindSince === undefined ? undefined : { behindSince };
      return { state: left, isMoreDue: areFilesLeft };
    },
  };
}

/**
 * Whether the ledger was ever restored: then the store may have files that no record names. Doubt before the first
 * generation does not count.
 */
function wasInDoubt({ list, knownSince = 0 }: HeadValue): boolean {
  return list.isDoubtful || knownSince === null || knownSince > 1;
}

/** Files that no record names: of unpublished markets, or of a kind that was switched off. */
async function unreachable({ ledger }: PublisherStorage, objects: readonly OwnedObject[]): Promise<readonly string[]> {
  const files = objects.flatMap(({ key, name }) => (name !== null && 'slug' in name ? [{ key, name }] : []));
  const heads = await readEach(ledger, files, ({ name }) => publishedHeadsKey(name.slug));
  const years = files.flatMap(({ key, name }) =>
    'year' in name ? [{ key, record: publishedYearKey(name.slug, name.year) }] : [],
  );
  const recorded = await readEach(ledger, years, ({ record }) => record);
  const recordedYears = new Set(recorded.flatMap(([{ key }, year]) => (year === null ? [] : [key])));
  return heads.flatMap(([{ key, name }, item]) => {
    const published = item?.value.files;
    const isThere = 'year' in name || name.kind === 'history-index' ? published?.index != null : published?.all != null;
    return isThere && (!('year' in name) || recordedYears.has(key)) ? [] : [key];
  });
}

async function* published({ ledger }: PublisherStorage): AsyncGenerator<PublicObjectName> {
  for await (const [slug, { files }] of publishedHeads(ledger)) {
    if (files !== undefined) yield* namesOf(ledger, slug, files);
  }
}

async function* namesOf(
  ledger: Ledger,
  slug: string,
  { all, index }: PublishedFiles,
): AsyncGenerator<PublicObjectName> {
  const years = index === null ? [] : (await readAll(ledger, publishedYearsOf(slug))).map(yearOf);
  for (const year of [...(all === null ? [] : [null]), ...years]) {
    for (const format of HISTORY_FORMATS) yield historyFileName(slug, format, year);
  }
  if (index !== null) yield { kind: 'history-index', slug };
}
