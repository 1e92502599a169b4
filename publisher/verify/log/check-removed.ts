/** Checks removed markets: the list leaves them out, and their URLs answer 410 and name a market that exists or existed. */
import pMap from 'p-map';
import { removedMarketSchema } from '../../../contract/files/removed-market.ts';
import { historyUrl, marketUrl } from '../../../contract/files/routes.ts';
import type { PageSizes } from '../../dependencies.ts';
import { checkAnswer, Findings } from '../check-body.ts';
import { bodyText, jsonIn } from '../check-file.ts';
import type { PublicReader } from '../reading/reader.ts';
import { ALL_MARKETS } from '../reading/share.ts';
import { ListWalk } from '../reading/walk-pages.ts';

const MARKETS_AT_ONCE = 8;

/** Reads the list again, because a market leaves the list before its URLs answer 410. */
export async function checkRemoved(
  reader: PublicReader,
  findings: Findings,
  slugs: ReadonlySet<string>,
  pageSizes: PageSizes,
): Promise<void> {
  if (slugs.size === 0) return;
  await pMap(slugs, (slug) => checkOne(reader, findings, slug), { concurrency: MARKETS_AT_ONCE });
  // The first check of the list has already reported findings of this walk.
  const list = new ListWalk(reader, new Findings(), pageSizes.markets);
  for await (const { slug } of list.itemsOf(ALL_MARKETS)) {
    if (slugs.has(slug)) findings.add(marketUrl(slug), 'removed', 'was named as removed, but is in the list');
  }
}

async function checkOne(reader: PublicReader, findings: Findings, slug: string): Promise<void> {
  const bodies: string[] = [];
  for (const url of [marketUrl(slug), historyUrl(slug)]) {
    const answer = checkAnswer(findings, url, await reader(url), removedMarketSchema, { status: 410 });
    if (answer === null) continue;
    bodies.push(answer.text);
    const known = await reader(url, { 'if-none-match': answer.etag });
    if (known.status !== 304 && known.status !== 410) {
      findings.add(url, 'conditional', `answered ${known.status} to its own ETag, expected 304`);
    }
    const { replacedBy } = answer.value;
    if (replacedBy !== null) await checkReplacement(reader, findings, url, slug, replacedBy);
  }
  if (bodies.length === 2 && bodies[0] !== bodies[1]) {
    findings.add(historyUrl(slug), 'removed', 'says something else than the market');
  }
}

/** The replacement may itself be removed, and name another one. Such a chain must not be a circle. */
async function checkReplacement(
  reader: PublicReader,
  findings: Findings,
  url: string,
  slug: string,
  replacedBy: string,
): Promise<void> {
  const seen = new Set([slug]);
  for (let next: string | null = replacedBy; next !== null; ) {
    if (seen.has(next)) {
      findings.add(url, 'removed', `its replacements lead back to ${next}`);
      return;
    }
    seen.add(next);
    const { status, body } = await reader(marketUrl(next));
    if (status === 200) return;
    const parsed = status === 410 ? removedMarketSchema.safeParse(jsonIn(bodyText({ body }))) : undefined;
    if (parsed?.success !== true) {
      findings.add(url, 'removed', `is replaced by ${next}, which answers ${status}`);
      return;
    }
    next = parsed.data.replacedBy;
  }
}
