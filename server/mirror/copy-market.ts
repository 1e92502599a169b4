/** Takes over one market with its history: read from the link to its target, checked, and put in the other direction. */

import { historyFilesDue } from '../../contract/files/history-files.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { removedMarketSchema } from '../../contract/files/removed-market.ts';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import { type Market, marketSchema } from '../../contract/values/market.ts';
import { type Checked, checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import { checkHistory } from '../../publisher/verify/check-history.ts';
import type { PublicReader, PublicResponse } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyFaults } from './body-faults.ts';
import type { CopiedBody } from './copy.ts';
import { copyFiles } from './copy-files.ts';
import type { MirrorWorld } from './mirror-world.ts';

export type CopyOutcome =
  | { readonly kind: 'copied'; readonly market: Market }
  /** The market is removed. Its documents are put once the list leaves it out. */
  | { readonly kind: 'gone'; readonly document: string }
  /** 404. */
  | { readonly kind: 'lost' }
  /** Older than the link to it, or than the copy: a cache on the way may be the reason. */
  | { readonly kind: 'stale' }
  /** Newer than the log: nobody has signed it. The revision of the body; null: it says that the market was removed. */
  | { readonly kind: 'ahead'; readonly revision: number | null }
  | { readonly kind: 'faulty'; readonly findings: readonly Finding[] };

/** @param atLeast the revision of the link to it: an older body is not taken over */
export async function copyMarket(world: MirrorWorld, slug: string, atLeast: number): Promise<CopyOutcome> {
  const findings = new Findings();
  const pages = new PageCopier(world, findings);
  const outcome = await copyProven(world, slug, atLeast, findings, pages);
  // A page has an URL of its own: also one to which nothing leads is served.
  if (outcome.kind !== 'copied') await pages.discard();
  return outcome;
}

async function copyProven(
  world: MirrorWorld,
  slug: string,
  atLeast: number,
  findings: Findings,
  pages: PageCopier,
): Promise<CopyOutcome> {
  const { copy, generation, pageSizes } = world;
  const url = marketUrl(slug);
  const response = await world.upstream(url);
  if (response.status === 404) return { kind: 'lost' };
  if (response.status === 410) return await removalOf(world, slug, response);
  const market = checkAnswer(findings, url, response, marketSchema);
  if (market !== null && market.value.revision < atLeast) return { kind: 'stale' };
  checkOwnName(findings, slug, market);
  if (market === null || bodyFaults(findings).length > 0) return { kind: 'faulty', findings: bodyFaults(findings) };

  let history: PublicResponse | null = null;
  const reader: PublicReader = async (path, headers) => {
    const answer = await pages.reader(path, headers);
    if (path === historyUrl(slug)) history = answer;
    return answer;
  };
  const pagesOfHistory = await checkHistory(reader, findings, market.value, pageSizes.observations);
  await pages.storeLast();
  const faults = bodyFaults(findings);
  if (faults.some(({ rule }) => rule === 'older-than-its-link')) return { kind: 'stale' };
  if (faults.length > 0 || history === null) return { kind: 'faulty', findings: faults };
  const known = new Map([
    [url, response],
    [historyUrl(slug), history],
  ]);
  // Before the proof, which is about the files, too: those of the copy may be older.
  const files = world.hasFiles ? await copyFiles(world, slug, pagesOfHistory, known) : 'none';
  if (files !== 'none' && files.kind !== 'checked') return files;
  const read = new Map([...known, ...(files === 'none' ? [] : files.answers)]);
  const proof = await proofOf(world, slug, market.value.revision, read, findings);
  if (bodyFaults(findings).length > 0) return { kind: 'faulty', findings: bodyFaults(findings) };
  if (proof === 'ahead') return { kind: 'ahead', revision: market.value.revision };
  if (proof === 'stale') return { kind: 'stale' };
  const { body } = history as PublicResponse;
  // The target first. Its pages are there already.
  await copy.put({ kind: 'history', slug }, { body, generation, nextCursor: nextCursorOf(body) });
  if (files !== 'none') await files.put();
  await copy.put({ kind: 'market', slug }, { body: market.text, generation });
  world.log?.due.delete(slug);
  world.known.note(slug, true);
  return { kind: 'copied', market: market.value };
}

function checkOwnName(findings: Findings, slug: string, market: Checked<Market> | null): void {
  if (market === null) return;
  if (market.value.slug !== slug) findings.add(marketUrl(slug), 'link', `is about ${market.value.slug}`);
  if (market.value.history.href !== historyUrl(slug)) {
    findings.add(marketUrl(slug), 'link', 'names another history than its own');
  }
}

/**
 * Whether the log says the same.
 *
 * @param known answers with what was read. Of the copy, only the pages of the history count: they never change.
 */
async function proofOf(
  { log, upstream, copy, pageSizes }: MirrorWorld,
  slug: string,
  revision: number | null,
  known: ReadonlyMap<string, PublicResponse>,
  findings: Findings,
): Promise<'same' | 'ahead' | 'stale'> {
  if (log === null) return 'same';
  const reader: PublicReader = async (path) =>
    known.get(path) ?? (await (pageOf(path) === null ? upstream : copy.reader)(path));
  return await log.judge(slug, revision, reader, findings, pageSizes.observations);
}

async function removalOf(world: MirrorWorld, slug: string, market: PublicResponse): Promise<CopyOutcome> {
  const findings = new Findings();
  const history = await world.upstream(historyUrl(slug));
  const documents = [
    checkAnswer(findings, marketUrl(slug), market, removedMarketSchema, undefined, 410),
    checkAnswer(findings, historyUrl(slug), history, removedMarketSchema, undefined, 410),
  ];
  const [first, second] = documents.map((document) => document?.text);
  if (first !== second) return { kind: 'stale' };
  const known = new Map([
    [marketUrl(slug), market],
    [historyUrl(slug), history],
  ]);
  const proof = await proofOf(world, slug, null, known, findings);
  if (proof === 'ahead') return { kind: 'ahead', revision: null };
  if (proof === 'stale') return { kind: 'stale' };
  const faults = bodyFaults(findings);
  return first === undefined || faults.length > 0
    ? { kind: 'faulty', findings: faults }
    : { kind: 'gone', document: first };
}

/** To be put at both URLs of a removed market, after the list. */
export function goneBody(document: string, generation: number): CopiedBody {
  return { body: document, generation, contentType: PROBLEM_CONTENT_TYPE };
}

/**
 * Reads pages from the copy if it has them, because they never change. A page from the service is stored once it is
 * checked, before the next one is asked for: it is named by its digest, and nothing in the copy leads to it yet. So no
 * history has to fit in memory.
 */
export class PageCopier {
  readonly #world: MirrorWorld;
  readonly #findings: Findings;
  readonly #stored: PageName[] = [];
  #checked: { readonly page: PageName; readonly body: Uint8Array } | null = null;

  /** @param findings of the walk that uses the reader */
  constructor(world: MirrorWorld, findings: Findings) {
    this.#world = world;
    this.#findings = findings;
  }

  readonly reader: PublicReader = async (url, headers) => {
    await this.storeLast();
    const page = pageOf(url);
    if (page === null) return await this.#world.upstream(url, headers);
    const copied = await this.#world.copy.reader(url);
    if (copied.status === 200) return copied;
    const answer = await this.#world.upstream(url, headers);
    if (answer.status === 200) this.#checked = { page, body: answer.body };
    return answer;
  };

  /** To be called when the walk has ended. */
  async storeLast(): Promise<void> {
    const last = this.#checked;
    this.#checked = null;
    if (last === null || bodyFaults(this.#findings).length > 0) return;
    const { copy, generation } = this.#world;
    await copy.put(last.page, { body: last.body, generation, nextCursor: nextCursorOf(last.body) });
    this.#stored.push(last.page);
  }

  /** Removes the pages that it has stored: they were not proven after all. */
  async discard(): Promise<void> {
    for (const page of this.#stored.splice(0)) await this.#world.copy.remove(publicKey(page));
  }
}

type PageName = { readonly cursor: string } & (
  | { readonly kind: 'market-list-page' }
  | { readonly kind: 'history-page'; readonly slug: string }
);

function pageOf(url: string): PageName | null {
  const [, slug, cursor] = /^\/api\/v1\/markets(?:\/([^/?]+)\/history)?\?cursor=([^&]+)$/.exec(url) ?? [];
  if (cursor === undefined) return null;
  return slug === undefined ? { kind: 'market-list-page', cursor } : { kind: 'history-page', slug, cursor };
}

/** Of a page that is checked elsewhere. */
export function nextCursorOf(body: Uint8Array): string | null {
  try {
    const { page } = JSON.parse(Buffer.from(body).toString('utf8')) as { page?: { nextCursor?: unknown } };
    return typeof page?.nextCursor === 'string' ? page.nextCursor : null;
  } catch {
    return null;
  }
}

/** Whether the copy has this body of the market, byte for byte, or a later one, of that revision at least. */
export async function isCopied(
  { copy, broken, log, hasFiles }: MirrorWorld,
  item: Market,
  atLeast: number,
): Promise<boolean> {
  const { slug } = item;
  if (broken.has(slug) || (await copy.head({ kind: 'history', slug })) === null) return false;
  const { hasWhole } = historyFilesDue(item.history.count, 0);
  if (hasFiles && hasWhole && (await copy.head({ kind: 'history-csv', slug })) === null) return false;
  const present = await copy.reader(marketUrl(slug));
  if (present.status !== 200) return false;
  const text = Buffer.from(present.body).toString('utf8');
  const { revision } = JSON.parse(text) as Market;
  // An earlier version took over bodies that nobody had signed.
  if (log !== null && revision > log.revisionOf(slug)) return false;
  // After a reset, also an earlier revision is news.
  if (revision < atLeast || log?.due.get(slug) === 0) return false;
  if (text !== canonicalJson(item) && revision <= item.revision) return false;
  log?.due.delete(slug);
  return true;
}
