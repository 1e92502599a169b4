/** Walks the list of the service, and takes over its markets before the list that leads to them. */
import pMap from 'p-map';
import { MARKETS_URL } from '../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import type { Market } from '../../contract/values/market.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { ALL_MARKETS } from '../../publisher/verify/share.ts';
import { ListWalk } from '../../publisher/verify/walk-pages.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { bodyFaults } from './body-faults.ts';
import { publishesFiles } from './copy-files.ts';
import type { WalkedList } from './copy-list-files.ts';
import { copyMarket, isCopied, nextCursorOf, PageCopier } from './copy-market.ts';
import type { ListWorld, MirrorWorld } from './mirror-world.ts';

/** Each of them holds the observations of one market in memory. */
const MARKETS_AT_ONCE = 4;

/** Bodies that are newer than the log: the revision of each, null for a removal. */
export type AheadOfLog = Map<string, number | null>;

/** One list of the service, and how far its markets are taken over. Puts no head of the list. */
export class CopiedList {
  readonly slugs = new Set<string>();
  readonly findings: Finding[] = [];
  /** Markets that were taken over. */
  copied = 0;
  readonly #world: ListWorld;
  readonly #ahead: AheadOfLog;
  #hasFiles: Promise<boolean> | null = null;
  #walk: ListWalk | null = null;
  #pages: PageCopier | null = null;
  /** Items whose markets are not as new as they are, or that are newer than the log. */
  #pending: Market[] = [];

  private constructor(world: ListWorld, ahead: AheadOfLog) {
    this.#world = world;
    this.#ahead = ahead;
  }

  /** Takes over each market that the list shows otherwise than the copy. @param ahead gets the bodies that are */
  static async read(world: ListWorld, ahead: AheadOfLog): Promise<CopiedList> {
    const list = new CopiedList(world, ahead);
    const findings = new Findings();
    const pages = new PageCopier({ ...world, hasFiles: false }, findings);
    list.#pages = pages;
    const walk = new ListWalk(pages.reader, findings, world.pageSizes.markets);
    await pMap(walk.itemsOf(ALL_MARKETS), (item) => list.#take(item), { concurrency: MARKETS_AT_ONCE });
    await pages.storeLast();
    list.findings.push(...bodyFaults(findings));
    list.#walk = walk;
    return list;
  }

  /** Looks again at the markets for which the list waits. */
  async retry(): Promise<void> {
    const pending = this.#pending;
    this.#pending = [];
    await pMap(pending, (item) => this.#take(item), { concurrency: MARKETS_AT_ONCE });
  }

  /** Its first page, with everything that it leads to in the copy. Null: it cannot be put. */
  get walked(): WalkedList | null {
    if (this.findings.length + this.#pending.length > 0 || !this.#walk?.head) return null;
    return { head: this.#walk.head, latest: this.#walk.latest };
  }

  /** To be called if the list is not put, and no later list was read: a page is served, also if nothing leads to it. */
  async discard(): Promise<void> {
    await this.#pages?.discard();
  }

  /** Markets for which it waits. */
  get stale(): readonly string[] {
    return this.#pending.map(({ slug }) => slug);
  }

  async hasFiles(): Promise<boolean> {
    this.#hasFiles ??= publishesFiles(this.#world.upstream);
    return await this.#hasFiles;
  }

  async #take(item: Market): Promise<void> {
    const { slug } = item;
    const { log, known, broken, progress } = this.#world;
    this.slugs.add(slug);
    progress.did();
    const text = canonicalJson(item as unknown as Json);
    const digest = sha256Hex(text);
    const isDue = broken.has(slug) || log?.due.has(slug);
    if (!isDue && known.isKnown(slug, digest)) return;
    const findings = new Findings();
    const folded = log === null ? null : log.judgeItem(item, findings);
    if (folded === 'ahead') {
      this.#ahead.set(slug, item.revision);
      this.#pending.push(item);
      return;
    }
    this.findings.push(...findings.all);
    if (findings.all.length > 0 || !(await this.#takeMarket(item, text))) return;
    this.#ahead.delete(slug);
    known.add(slug, digest, item.revision, folded);
  }

  /** Whether the copy has the market as the item shows it, or a later one. */
  async #takeMarket(item: Market, text: string): Promise<boolean> {
    const { slug } = item;
    const world: MirrorWorld = { ...this.#world, hasFiles: await this.hasFiles() };
    const least = Math.max(item.revision, world.log?.due.get(slug) ?? 0);
    if (await isCopied(world, item, least)) return true;
    const outcome = await copyMarket(world, slug, least);
    if (outcome.kind === 'copied') {
      this.copied++;
      const isSame =
        outcome.market.revision !== item.revision || canonicalJson(outcome.market as unknown as Json) === text;
      if (!isSame)
        this.findings.push({ url: MARKETS_URL, rule: 'digest', detail: `shows ${slug} otherwise than its URL` });
      return isSame;
    }
    if (outcome.kind === 'faulty') this.findings.push(...outcome.findings);
    // Removed since the list was read: the next list leaves it out.
    else this.#pending.push(item);
    if (outcome.kind === 'ahead') this.#ahead.set(slug, outcome.revision);
    return false;
  }
}

export interface CopiedDue {
  readonly copied: number;
  readonly stale: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Takes over markets that the log has changed and the list does not show. A market that is removed waits for the list
 * without it.
 */
export async function copyDueMarkets(world: ListWorld, list: CopiedList, ahead: AheadOfLog): Promise<CopiedDue> {
  const { log } = world;
  const [stale, findings]: [string[], Finding[]] = [[], []];
  let copied = 0;
  for (const [slug, revision] of log?.due ?? []) {
    if (list.slugs.has(slug)) continue;
    // The document in its place follows from the log, once the list leaves it out.
    if (log?.isRemoved(slug)) continue;
    const outcome = await copyMarket({ ...world, hasFiles: await list.hasFiles() }, slug, revision);
    if (outcome.kind === 'copied') copied++;
    else if (outcome.kind === 'faulty') findings.push(...outcome.findings);
    else stale.push(slug);
    if (outcome.kind === 'ahead') ahead.set(slug, outcome.revision);
  }
  return { copied, stale, findings };
}

export async function putList({ copy, generation }: ListWorld, { head }: WalkedList): Promise<void> {
  const body = Buffer.from(head.text);
  await copy.put({ kind: 'market-list' }, { body, generation, nextCursor: nextCursorOf(body) });
}
