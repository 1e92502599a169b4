/** Changes for feed readers: one feed for all markets, and, if the deployment wants it, one for each market. */
import { FEED_NAMES } from '../../../contract/files/public-object-names.ts';
import { unreachableOfMarkets } from '../../core/market-files/market-files.ts';
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
  isInLog: true,
  checkMarket: async (bodies) => await (await import('./check.ts')).checkMarketFeed(bodies),
  reachable: {
    async unreachable(storage, objects, state) {
      const ofMarkets = await unreachableOfMarkets(storage, 'market-feeds', objects);
      return state === undefined ? [...ofMarkets, ...objects.flatMap(ofAll)] : ofMarkets;
    },
    async *published(_storage, state) {
      if (state !== undefined) for (const file of FEED_NAMES) yield { kind: 'feed', file };
    },
  },
};

const ofAll = ({ key, name }: OwnedObject): readonly string[] => (name?.kind === 'feed' ? [key] : []);
