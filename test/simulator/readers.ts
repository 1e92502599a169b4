/** Readers, who walk the list by its cursors, follow links, and poll through a cache. */
import { FRESH_SECONDS, STALE_IF_ERROR_SECONDS } from '../../contract/files/limits.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { createObjectCache } from '../../server/edge/cache.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { publishedIn } from './facts.ts';
import { immortal } from './processes.ts';
import {
  bodyOf,
  indexedFiles,
  indexedPages,
  isGone,
  LIST_KEY,
  type ListedMarket,
  pageItems,
  pageKeyOf,
  type ShownObservation,
} from './published.ts';
import type { StoredEntry } from './simulated-objects.ts';
import type { World } from './world.ts';

/** The answer to a reader. `unavailable`: the reader asks again. */
export type Read = (key: string) => Promise<StoredEntry | 'absent' | 'unavailable'>;

/** Reads from the store, without a cache. */
export function storeReader(world: World, name: string): Read {
  const { objects } = world.hostOf(immortal(name));
  return async (key) => {
    try {
      const found = await objects.get(key);
      return found.kind === 'found' ? found : 'absent';
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      return 'unavailable';
    }
  };
}

const FRESH_MS = FRESH_SECONDS * 1000;
const LONGEST_STALE_MS = FRESH_MS + STALE_IF_ERROR_SECONDS * 1000;
/** Uses real time, which does not advance in a simulation. */
const NO_DEADLINE_MS = 2 ** 31 - 1;
/** The longest read of the store. Its answer may be this old. */
const READ_MS = 1_000;

/** Reads through a shared cache. Checks that answers are not too old, and never older than earlier ones. */
export function edgeReader(world: World, name: string): Read {
  const { objects } = world.hostOf(immortal(name));
  const cache = createObjectCache<StoredEntry>({
    // The cache's own timer would outlive the world.
    objects: { get: (key, options) => Promise.race([objects.get(key, options), world.ended]) },
    nowMs: () => world.nowMs(),
    view: (_key, { etag, body, metadata }) => ({ etag, body, metadata }),
    sizeOf: ({ body }) => body.length,
    maxBytes: 2 ** 20,
    deadlineMs: NO_DEADLINE_MS,
    report: (key, cause) => {
      if (!(cause instanceof StorageUnavailable)) world.fail('cache', `${key}: ${cause}`);
    },
  });
  const newest = new Map<string, number>();
  return async (key) => {
    const answer = await cache.read(key);
    if (answer.kind !== 'found') return answer.kind;
    const served = answer.view;
    const versions = world.watch.versionsOf(key);
    const version = versions.findLastIndex(({ etag }) => etag === served.etag);
    if (version >= 0) {
      if (version < (newest.get(key) ?? 0))
        world.fail('going-back', `the cache serves an older ${key} after a newer one`);
      newest.set(key, version);
      const replacedMs = versions[version + 1]?.sinceMs ?? Number.POSITIVE_INFINITY;
      if (world.scheduler.elapsedMs - replacedMs > LONGEST_STALE_MS + READ_MS) {
        world.fail('too-stale', `the cache serves ${key}, replaced ${world.scheduler.elapsedMs - replacedMs} ms ago`);
      }
    }
    return served;
  };
}

/** Asks until there is an answer. */
async function readSurely(world: World, read: Read, key: string): Promise<StoredEntry | 'absent'> {
  for (;;) {
    const found = await read(key);
    if (found !== 'unavailable') return found;
    await world.scheduler.sleep(world.random.spread(100, 10_000));
  }
}

/**
 * Walks the list from its first page to its last, with pauses, and then follows links. It must find the list as it was at
 * the beginning of the walk.
 */
export async function walkList(world: World, read: Read, name: string, pauseMs: () => number): Promise<void> {
  const first = await readSurely(world, read, LIST_KEY);
  if (first === 'absent') return;
  const found: ListedMarket[] = [...pageItems<ListedMarket>(first)];
  const list = { kind: 'market-list' } as const;
  for (let cursor = first.metadata.nextCursor; cursor !== null; ) {
    await world.scheduler.sleep(pauseMs());
    const page = await readSurely(world, read, pageKeyOf(list, cursor));
    if (page === 'absent') return world.fail('torn-walk', `${name}: the cursor ${cursor} leads to nothing`);
    found.push(...pageItems<ListedMarket>(page));
    cursor = page.metadata.nextCursor;
  }
  const walked = found.map(({ slug, revision }) => `${slug}@${revision}`).join(' ');
  const right = world.watch.listOf(first.etag)?.join(' ');
  if (walked !== right) world.fail('torn-walk', `${name}: walked ${walked}, the list was ${right}`);
  world.note(name, 'walked', walked);
}

/** Follows a link of the list. The target exists and is not older. */
export async function followLinks(world: World, read: Read, name: string, pauseMs: () => number): Promise<void> {
  const first = await readSurely(world, read, LIST_KEY);
  if (first === 'absent') return;
  const items = pageItems<ListedMarket>(first);
  if (items.length === 0) return;
  const item = world.random.pick(items);
  await world.scheduler.sleep(pauseMs());
  const body = await readSurely(world, read, publicKey({ kind: 'market', slug: item.slug }));
  if (body === 'absent')
    return world.fail('missing-page', `${name}: the list links to ${item.slug}, which is not there`);
  // It has left the list meanwhile: the watch has seen to the order.
  if (isGone(body)) return;
  const market = bodyOf<ListedMarket>(body);
  // After a restore, markets may be older than the list, until all of them are published again.
  const isOfBefore = first.metadata.generation <= world.watch.lastOfBefore;
  if (market.revision < item.revision && !isOfBefore) {
    return world.fail('older-than-its-link', `${name}: ${item.slug} is ${market.revision}, its item ${item.revision}`);
  }
  await world.scheduler.sleep(pauseMs());
  const history = { kind: 'history', slug: item.slug } as const;
  const ids: string[] = [];
  for (let key: string | null = publicKey(history); key !== null; ) {
    const page: StoredEntry | 'absent' = await readSurely(world, read, key);
    if (page === 'absent') return world.fail('torn-walk', `${name}: ${key} is not there`);
    if (isGone(page)) return;
    ids.push(...pageItems<ShownObservation>(page).map(({ id }) => id));
    key = page.metadata.nextCursor === null ? null : pageKeyOf(history, page.metadata.nextCursor);
    await world.scheduler.sleep(pauseMs());
  }
  if (new Set(ids).size !== ids.length) world.fail('torn-walk', `${name}: the history of ${item.slug} shows one twice`);
  if (ids.length < market.history.count && body.metadata.generation > world.watch.lastOfBefore) {
    world.fail('older-than-its-link', `${name}: ${item.slug} counts ${market.history.count}, ${ids.length} are shown`);
  }
  if (world.settings.projections.includes('history-files')) await readFiles(world, read, item.slug, name, pauseMs);
}

/** Reads what the index of a history names. A deployment in between may switch it off, and a restore may lose a year. */
async function readFiles(world: World, read: Read, slug: string, name: string, pauseMs: () => number): Promise<void> {
  const index = await readSurely(world, read, publicKey({ kind: 'history-index', slug }));
  if (index === 'absent' || isGone(index)) return;
  for (const key of [...indexedFiles(index), ...indexedPages(slug, index)]) {
    await world.scheduler.sleep(pauseMs());
    const found = await readSurely(world, read, key);
    const isOn = publishedIn(world.items).projections.includes('history-files');
    if (found === 'absent' && isOn && !world.hasGoneBack) {
      return world.fail('missing-page', `${name}: the index of ${slug} leads to ${key}, which is not there`);
    }
  }
}
