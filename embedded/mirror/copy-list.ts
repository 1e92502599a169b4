/** Walks the list of the service, and takes over its markets before the list that leads to them. */
import pMap from 'p-map';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/public-objects.ts';
import { marketUrl } from '../../contract/routes.ts';
import { marketFaceNames } from '../../publisher/faces/face-names.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { ALL_MARKETS } from '../../publisher/verify/share.ts';
import { ListWalk } from '../../publisher/verify/walk-pages.ts';
import { bodyFaults } from './body-faults.ts';
import { publishesFiles } from './copy-files.ts';
import type { WalkedList } from './copy-list-files.ts';
import { copyMarket, goneBody, isCopied, nextCursorOf, PageCopier } from './copy-market.ts';
import type { MirrorWorld } from './mirror-world.ts';
import { copiedKeys, copiedMarkets } from './reached.ts';

/** Each of them holds the observations of one market in memory. */
const MARKETS_AT_ONCE = 4;

export interface CopiedList {
  /** Its first page, with all pages after it in the copy, and the newest values. Null: it cannot be put. */
  readonly walked: WalkedList | null;
  readonly slugs: ReadonlySet<string>;
  readonly hasFiles: boolean;
  /** Markets that were taken over. */
  readonly copied: number;
  /** Markets whose bodies are older than their items: the list has to wait for them. */
  readonly stale: readonly string[];
  readonly findings: readonly Finding[];
}

/** Takes over each market that the list shows otherwise than the copy. Puts no head of the list. */
export async function copyListedMarkets(given: Omit<MirrorWorld, 'hasFiles'>): Promise<CopiedList> {
  const findings = new Findings();
  let hasFiles: Promise<boolean> | null = null;
  const pages = new PageCopier({ ...given, hasFiles: false }, findings);
  const list = new ListWalk(pages.reader, findings, given.pageSizes.markets);
  const slugs = new Set<string>();
  const [stale, faulty]: [string[], Finding[]] = [[], []];
  let copied = 0;
  await pMap(
    list.itemsOf(ALL_MARKETS),
    async (item) => {
      slugs.add(item.slug);
      hasFiles ??= publishesFiles(given.upstream, item.slug);
      const world: MirrorWorld = { ...given, hasFiles: await hasFiles };
      const least = Math.max(item.revision, world.log?.due.get(item.slug) ?? 0);
      if (await isCopied(world, item, least)) return;
      const outcome = await copyMarket(world, item.slug, least);
      if (outcome.kind === 'copied') copied++;
      else if (outcome.kind === 'faulty') faulty.push(...outcome.findings);
      // Removed since the list was read: the next list leaves it out.
      else stale.push(item.slug);
    },
    { concurrency: MARKETS_AT_ONCE },
  );
  await pages.storeLast();
  const found = [...bodyFaults(findings), ...faulty];
  return {
    walked: found.length + stale.length === 0 && list.head !== null ? { head: list.head, latest: list.latest } : null,
    hasFiles: (await hasFiles) ?? false,
    slugs,
    copied,
    stale,
    findings: found,
  };
}

/**
 * Takes over markets that the log has changed and the list does not show. A market that is removed waits for the list
 * without it.
 */
export async function copyDueMarkets(
  world: MirrorWorld,
  listed: ReadonlySet<string>,
): Promise<Omit<CopiedList, 'walked' | 'slugs' | 'hasFiles'>> {
  const [stale, findings]: [string[], Finding[]] = [[], []];
  let copied = 0;
  for (const [slug, revision] of world.log?.due ?? []) {
    if (listed.has(slug)) continue;
    const outcome = await copyMarket(world, slug, revision);
    if (outcome.kind === 'copied') copied++;
    else if (outcome.kind === 'faulty') findings.push(...outcome.findings);
    else if (outcome.kind === 'gone') world.log?.due.delete(slug);
    else stale.push(slug);
  }
  return { copied, stale, findings };
}

export async function putList({ copy, generation }: MirrorWorld, { head }: WalkedList): Promise<void> {
  const body = Buffer.from(head.text);
  await copy.put({ kind: 'market-list' }, { body, generation, nextCursor: nextCursorOf(body) });
}

/** Markets of the copy that the list does not show, and that are not known as removed. */
export async function unlistedMarkets({ copy }: MirrorWorld, listed: ReadonlySet<string>): Promise<readonly string[]> {
  return (await copiedMarkets(copy)).filter((slug) => !listed.has(slug));
}

/** To be called after the list without them is put. Returns those that the service does not have any more. */
export async function copyRemovals(world: MirrorWorld, slugs: readonly string[]): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const slug of slugs) {
    const outcome = await copyMarket(world, slug, 0);
    if (outcome.kind === 'lost') lost.push(slug);
    if (outcome.kind !== 'gone') continue;
    const body = goneBody(outcome.document, world.generation);
    await world.copy.put({ kind: 'history', slug }, body);
    for await (const key of copiedKeys(world.copy, `${PUBLIC_PREFIX}${marketUrl(slug)}/`)) {
      const name = parsePublicKey(key);
      if (name !== null) await world.copy.put(name, body);
    }
    for (const name of marketFaceNames(slug)) {
      if ((await world.copy.head(name)) !== null) await world.copy.put(name, body);
    }
    await world.copy.put({ kind: 'market', slug }, body);
  }
  return lost;
}
