/** What has changed, for feed readers: of all markets, and of each one where a deployment wants that. */
import { FEED_NAMES } from '../../../contract/files/public-object-names.ts';
import { CHANGES_FEED_URL, CORRECTIONS_FEED_URL } from '../../../contract/files/routes.ts';
import { readMany } from '../../../storage/ports/paging.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { NO_PLAN, type OwnedObject, type Projector } from '../../kernel/projection.ts';

export const feeds: Projector = {
  name: 'feeds',
  kinds: ['feed', 'market-feed'],
  plan: async (context) => {
    const { projections } = context.dependencies;
    const isOn = projections?.has('feeds') === true || projections?.has('market-feeds') === true;
    return isOn ? await (await import('./plan-feeds.ts')).planFeeds(context) : NO_PLAN;
  },
  check: async (context) => await (await import('./check.ts')).checkFeeds(context),
  checkMarket: async (market) => await (await import('./check.ts')).checkLoggedMarketFeed(market),
  checkLogged: async (context) => await (await import('./check.ts')).checkLoggedFeeds(context),
  reachable: {
    unreachable,
    async *published(_storage, state) {
      if (state !== undefined) for (const file of FEED_NAMES) yield { kind: 'feed', file };
    },
  },
  describe: {
    what: 'New values, corrections, retractions and removals, for feed readers.',
    paths: [CHANGES_FEED_URL, CORRECTIONS_FEED_URL, '/feeds/markets/{slug}.atom'],
  },
};

/** Those of a kind that was switched off, and of markets that are not published. */
async function unreachable(
  { ledger, projections }: PublisherStorage,
  objects: readonly OwnedObject[],
  state: unknown,
): Promise<readonly string[]> {
  const ofMarkets = objects.flatMap(({ key, name }) =>
    name?.kind === 'market-feed' ? [{ key, slug: name.slug }] : [],
  );
  const ofAll = objects.flatMap(({ key, name }) => (name?.kind === 'feed' && state === undefined ? [key] : []));
  // A command that does not know the kinds of the deployment removes none of a published market.
  const isOff = projections?.has('market-feeds') === false;
  const heads = await readMany(
    ledger,
    ofMarkets.map(({ slug }) => publishedHeadsKey(slug)),
  );
  return [...ofAll, ...ofMarkets.flatMap(({ key }, index) => (isOff || heads[index] === null ? [key] : []))];
}
