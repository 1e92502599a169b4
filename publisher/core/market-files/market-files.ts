/**
 * Files of each market that follow from its two bodies alone, such as a badge. A projection defines its files and their
 * contents; planning, checking and sweeping are shared.
 */
import type { Projection } from '../../../contract/files/projections.ts';
import { readEach } from '../../../storage/ports/paging.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { NO_PART, NO_PLAN, type OwnedObject, type Projector } from '../../kernel/projection.ts';
import type { FilesOfMarkets } from './files-of-markets.ts';

/** The base URL in the last published generation. */
interface State {
  readonly readBaseUrl: string | null;
}

/** The projection of these files. */
export function marketFiles(files: FilesOfMarkets): Projector {
  const { name, kinds, frameFile, needBaseUrl = [] } = files;
  const isUnneeded = (kind: string, state: State | undefined) =>
    state?.readBaseUrl === null && needBaseUrl.some((other) => other === kind);
  return {
    name,
    kinds,
    filesOfMarket: kinds.length,
    async plan({ dependencies: { projections, readBaseUrl = null, site } }) {
      if (projections?.has(name) !== true) return NO_PLAN;
      const { planMarketFiles } = await import('./plan-market-files.ts');
      const frame = frameFile === undefined ? null : ((await site?.read(frameFile)) ?? null);
      const settings = { readBaseUrl, projections, frame };
      return {
        market: async (market) => ({
          finish: async (history) => await planMarketFiles(files, settings, market, history),
        }),
        missed: () => NO_PART,
        finish: async () => ({ state: { readBaseUrl } }),
      };
    },
    checkMarket: async (bodies) => (await import('./check-market-files.ts')).checkMarketFiles(files, bodies),
    reachable: {
      unreachable: async (storage, objects, state) =>
        await unreachableOfMarkets(storage, name, objects, (kind) => isUnneeded(kind, state as State | undefined)),
    },
  };
}

/** The files that are no longer needed: those of a kind that is switched off, and those of unpublished markets. */
export async function unreachableOfMarkets(
  { ledger, projections }: PublisherStorage,
  name: Projection,
  objects: readonly OwnedObject[],
  isUnneeded: (kind: string) => boolean = () => false,
): Promise<readonly string[]> {
  const files = objects.flatMap(({ key, name }) =>
    name !== null && 'slug' in name ? [{ key, kind: name.kind, slug: name.slug }] : [],
  );
  // A command without the deployment's settings does not know which kinds are off, so it removes no file of a published
  // market.
  const isOff = projections?.has(name) === false;
  const heads = await readEach(ledger, files, ({ slug }) => publishedHeadsKey(slug));
  return heads.flatMap(([{ key, kind }, published]) => (isOff || isUnneeded(kind) || published === null ? [key] : []));
}
