/**
 * Copies everything: for the first copy, and when the copy cannot follow a generation. It may take any number of rounds.
 *
 * It reads from links to targets, and puts from targets to links, while the first store changes: so the target of a link is
 * never older than the link. The bodies that lead to everything (the snapshot, the list …) are read before all others, wait
 * in the second store where no reader can reach them, and are put in place last. From the generation before that read, the
 * second store can then follow: a body that is already newer stays.
 */
import pMap from 'p-map';
import { cursorGeneration } from '../../contract/files/cursors.ts';
import { FEED_NAMES } from '../../contract/files/public-object-names.ts';
import {
  PUBLIC_OBJECTS,
  PUBLIC_PREFIX,
  type PublicObjectKind,
  type PublicObjectName,
  parsePublicKey,
  publicKey,
} from '../../contract/files/public-objects.ts';
import { COPY_PREFIX } from '../../storage/aws/names.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { keyPages } from '../../storage/ports/objects.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { putPlace } from '../kernel/apply.ts';
import { PROJECTORS } from '../projections.ts';
import type { StateFile } from './state.ts';
import { type CopyStorage, copyImmutable, isMadeDaily, putObject, type ReadObject, readObject } from './stores.ts';

const EVERYTHING = `${PUBLIC_PREFIX}/`;
/** A longer walk starts again: pages of its list may be gone. */
const LONGEST_WALK_MS = 20 * 60 * 60 * 1000;

/** True: the second store shows a complete generation. False: the time was over, or a generation is being applied. */
export async function copyAll(storage: CopyStorage, state: StateFile): Promise<boolean> {
  const { first, hasTime, nowMs } = storage;
  const { filling: before } = state.value;
  let filling = before !== undefined && nowMs() - before.startedAtMs < LONGEST_WALK_MS ? before : undefined;
  if (filling === undefined) {
    const head = (await storage.ledger.get(HEAD_KEY))?.value;
    if (head === undefined || !head.applied || head.list.isDoubtful || head.log?.isDoubtful) return false;
    filling = { generation: head.generation, startedAtMs: nowMs(), after: '' };
    await holdTops(storage, filling.generation);
    await state.save({ filling });
  }
  for (let { after } = filling; ; ) {
    if (!hasTime()) return false;
    const { keys, next } = await readGroups(first, after);
    await copyGroups(storage, keys);
    if (next === null) break;
    after = next;
    await state.save({ filling: { ...filling, after } });
  }
  if (!(await copyListPages(storage, filling.generation))) return false;
  await putTops(storage, filling.generation);
  await state.save({ generation: filling.generation, filling: undefined });
  return true;
}

/** The bodies that exist once, in the order in which they are put. */
const TOPS: readonly string[] = [
  ...(Object.keys(PUBLIC_OBJECTS) as PublicObjectKind[]).map((kind) => publicKey({ kind } as PublicObjectName)),
  ...FEED_NAMES.map((file) => publicKey({ kind: 'feed', file })),
  ...PROJECTORS.flatMap(({ keys = [] }) => keys),
]
  .filter((key) => isOwn(key) || (parsePublicKey(key) !== null && !isMadeDaily(parsePublicKey(key))))
  .sort((left, right) => putPlace({ key: left }) - putPlace({ key: right }));

function isOwn(key: string): boolean {
  return PROJECTORS.some(({ keys = [] }) => keys.includes(key));
}

/** A whole group is in memory, and a long history and its files have tens of megabytes. */
const GROUPS_AT_ONCE = 16;

const heldKey = (generation: number, key: string) => `${COPY_PREFIX}held/${generation}/${key}`;

/** Reads in the order from links to targets. */
async function holdTops({ first, second }: CopyStorage, generation: number): Promise<void> {
  for (const key of TOPS.toReversed()) {
    const found = await first.get(key);
    if (found.kind !== 'found') continue;
    const held = heldKey(generation, key);
    const replaces = (await second.stat(held))?.etag ?? null;
    await putObject(second, { ...found, key: held, replaces });
  }
}

async function putTops({ second }: CopyStorage, generation: number): Promise<void> {
  for (const key of TOPS) {
    const held = await second.get(heldKey(generation, key));
    if (held.kind !== 'found') continue;
    const replaces = (await second.stat(key))?.etag ?? null;
    await putObject(second, { ...held, key, replaces });
  }
  for (const key of TOPS) {
    const held = await second.stat(heldKey(generation, key));
    if (held !== null) await second.delete(heldKey(generation, key), held.etag);
  }
}

/**
 * The group of objects that link to one another: a market's body and history, which are adjacent in a listing, or the pages
 * for people.
 */
function groupOf(key: string): string {
  const name = parsePublicKey(key);
  if (name === null) return key;
  if (name.kind.startsWith('site-')) return 'site';
  return 'slug' in name && /^(market$|history)/.test(name.kind) ? `markets/${name.slug}` : key;
}

/** Keys after this one, in whole groups. `next`: continue after it; null at the end. */
async function readGroups(
  first: ObjectStore,
  after: string,
): Promise<{ readonly keys: readonly string[]; readonly next: string | null }> {
  const keys: string[] = [];
  for (let from = after; ; ) {
    const page = await first.list(EVERYTHING, { after: from });
    keys.push(...page.keys);
    if (page.next === null) return { keys, next: null };
    from = page.next;
    const cut = keys.findLastIndex((key) => groupOf(key) !== groupOf(from));
    if (cut >= 0) return { keys: keys.slice(0, cut + 1), next: keys[cut] as string };
  }
}

async function copyGroups(storage: CopyStorage, keys: readonly string[]): Promise<void> {
  const tops = new Set(TOPS);
  const isLater = (key: string) => tops.has(key) || key.startsWith(LIST_PAGES) || isMadeDaily(parsePublicKey(key));
  const wanted = keys.filter((key) => !isLater(key));
  const groups = [...Map.groupBy(wanted, groupOf).values()];
  await pMap(groups, (group) => copyGroup(storage, group), { concurrency: GROUPS_AT_ONCE });
}

const LIST_PAGES = publicKey({ kind: 'market-list-page', cursor: '' }).replace(/[^/]*$/, '');

/**
 * The list pages come after the markets: a reader may have a cursor of the first region, and a page must not lead to older
 * markets. So a page of a later generation is copied only when the copy follows that generation.
 */
async function copyListPages(storage: CopyStorage, generation: number): Promise<boolean> {
  const { first, hasTime, concurrency } = storage;
  for await (const keys of keyPages(first, LIST_PAGES)) {
    if (!hasTime()) return false;
    const due = keys.filter((key) => pageGeneration(key) <= generation);
    await pMap(due, (key) => copyImmutable(storage, key), { concurrency: concurrency.objects });
  }
  return true;
}

function pageGeneration(key: string): number {
  const name = parsePublicKey(key);
  return name !== null && 'cursor' in name ? cursorGeneration(name.cursor) : 0;
}

const isPage = (key: string) => 'cursor' in (parsePublicKey(key) ?? {});

async function copyGroup(storage: CopyStorage, keys: readonly string[]): Promise<void> {
  const bodies = keys
    .filter((key) => !isPage(key))
    .sort((left, right) => putPlace({ key: right }) - putPlace({ key: left }));
  const read: ReadObject[] = [];
  for (const key of bodies) {
    const object = await readObject(storage, key);
    if (object !== null) read.push(object);
  }
  await pMap(keys.filter(isPage), (key) => copyImmutable(storage, key), { concurrency: storage.concurrency.objects });
  for (const object of read.reverse()) {
    await copyNewerPages(storage, object, keys);
    await putObject(storage.second, object);
  }
}

/** Copies pages that were closed after the listing and before the history was read. */
async function copyNewerPages(storage: CopyStorage, history: ReadObject, listed: readonly string[]): Promise<void> {
  const name = parsePublicKey(history.key);
  if (name?.kind !== 'history') return;
  let cursor = history.metadata.nextCursor;
  while (cursor !== null) {
    const key = publicKey({ kind: 'history-page', slug: name.slug, cursor });
    if (listed.includes(key) || !(await copyImmutable(storage, key))) return;
    cursor = (await storage.second.stat(key))?.metadata.nextCursor ?? null;
  }
}
