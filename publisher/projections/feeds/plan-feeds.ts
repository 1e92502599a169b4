/**
 * Plans the feeds of one generation: the published entries, and new ones of the markets that it changes. A refresh reads
 * whole histories, so it restores a lost feed.
 */
import type { FeedName } from '../../../contract/files/public-object-names.ts';
import { PUBLIC_OBJECTS, publicKey } from '../../../contract/files/public-objects.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { planRemovedFiles } from '../../core/market-files/plan-market-files.ts';
import { addFileIfChanged } from '../../kernel/files/add-file.ts';
import { storedText } from '../../kernel/files/stored-digest.ts';
import type { MarketContext, MarketPart, MarketStep, PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { NO_PART } from '../../kernel/projection.ts';
import { NO_ORIGIN } from '../../kernel/text/atom.ts';
import { MarketEvents, noEvents } from './feed-events.ts';
import { entriesOf, type FeedEntry, type FeedOf, feedObject, feedText, merged, readFeed } from './feed-file.ts';

/** The name under which entries are published, and the SHA-256 of each feed of all markets. */
export interface FeedsState {
  readonly origin: string;
  readonly changes: string;
  readonly corrections: string;
}

/** The unit of a market that the ledger has lost: it has no rows, so the unit does not matter. */
const NO_UNIT = { quantity: 1, of: '' };

export async function planFeeds(context: PlanContext): Promise<ProjectionPlan> {
  const { dependencies } = context;
  const { projections, log, objects } = dependencies;
  const isOn = projections?.has('feeds') === true;
  const areMarketsOn = projections?.has('market-feeds') === true;
  const origin = log?.origin ?? NO_ORIGIN;
  const known = context.state as unknown as FeedsState | undefined;
  const added = noEvents();
  const removed = new Set<string>();

  const market = async (of: MarketContext): Promise<MarketStep> => {
    const { slug, record } = of.view;
    const removal = record?.value.removal;
    const events = new MarketEvents(slug, record?.value.unit ?? NO_UNIT);
    return {
      read: ({ observation }) => events.add(observation),
      async finish() {
        if (removal !== undefined) events.remove(removal);
        const files = areMarketsOn ? await planMarketFeed(of, origin, events) : NO_PART;
        return {
          ...files,
          taken() {
            if (record === null || removal !== undefined) removed.add(slug);
            added.changes.addAll(events.changes);
            added.corrections.addAll(events.corrections);
          },
        };
      },
    };
  };

  return {
    market,
    async finish() {
      if (!isOn) return { state: undefined };
      const isOther = known?.origin !== origin;
      const update = async (all: FeedName): Promise<string> => {
        const before = isOther ? undefined : known[all];
        if (before !== undefined && added[all].size === 0 && removed.size === 0) return before;
        const published = await readPublished(objects, { all }, before);
        const isLeft = ({ slug, kind }: FeedEntry) => kind === 'removal' || !removed.has(slug);
        const entries = merged(published.filter(isLeft), entriesOf(added[all], origin));
        return await addFileIfChanged(context, feedObject({ all }), feedText({ all }, origin, entries), before);
      };
      const state: FeedsState = { origin, changes: await update('changes'), corrections: await update('corrections') };
      return { state: { ...state } };
    },
  };
}

/** The published entries. Empty if the feed differs from the recorded one. */
async function readPublished(objects: ObjectStore, of: FeedOf, digest: string | undefined) {
  const text = digest === undefined ? null : await storedText(objects, feedObject(of), digest);
  return (text === null ? null : readFeed(of, text)?.entries) ?? [];
}

/** The feed of one market, or the problem document that replaces it. */
async function planMarketFeed(context: MarketContext, origin: string, { changes }: MarketEvents): Promise<MarketPart> {
  const { objects } = context.dependencies;
  const { slug, record, isRefresh } = context.view;
  const of = { slug };
  const name = feedObject(of);
  if (record?.value.removal !== undefined) return await planRemovedFiles(context, record.value.removal, [name]);
  if (record === null || changes.size === 0) return NO_PART;
  const found = await objects.get(publicKey(name));
  const isFeed = found.kind === 'found' && found.metadata.contentType === PUBLIC_OBJECTS['market-feed'].contentType;
  const present = isFeed ? Buffer.from(found.body).toString('utf8') : '';
  const read = isRefresh ? null : readFeed(of, present);
  const known = read?.origin === origin ? read.entries : [];
  const body = feedText(of, origin, merged(known, entriesOf(changes, origin)));
  if (body === present) return NO_PART;
  return { ...NO_PART, lines: [{ kind: 'put', key: publicKey(name), body, nextCursor: null }] };
}
