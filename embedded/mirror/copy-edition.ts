/**
 * Takes over one edition. Its bytes never change, so it is read twice: first all of it is checked by the rules of `verify`,
 * and then each body is put if it is still the same. Its document comes last. So nothing of an edition is put that
 * was not checked as a whole, and nothing has to stay in memory but digests.
 */

import { publicEditionSchema } from '../../contract/public-edition.ts';
import { PUBLIC_PREFIX } from '../../contract/public-objects.ts';
import { EDITIONS_URL, EXPORTS_URL, editionUrl } from '../../contract/routes.ts';
import { checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import { checkFolded } from '../../publisher/verify/check-folded.ts';
import { editionReader } from '../../publisher/verify/edition-reader.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { bodyDigest } from '../../storage/object-rules.ts';
import { bodyFaults } from './body-faults.ts';
import { nextCursorOf } from './copy-market.ts';
import { freshReader } from './fresh-reader.ts';
import type { MirrorWorld } from './mirror-world.ts';
import { copiedKeys } from './reached.ts';

type EditionWorld = Pick<MirrorWorld, 'upstream' | 'copy' | 'log' | 'pageSizes' | 'generation'>;

/** A service that has removed the edition, perhaps for a takedown: it leaves the copy, too. */
export async function copyEdition(world: EditionWorld, name: string): Promise<readonly Finding[]> {
  const { copy, log } = world;
  const url = editionUrl(name);
  const answer = await freshReader(world)(url);
  if (answer.status === 404) {
    if (await removeEdition(world, name)) return [];
    return [{ url, rule: 'status', detail: 'answered 404: leave it out of --edition' }];
  }
  const findings = new Findings();
  const edition = checkAnswer(findings, url, answer, publicEditionSchema);
  if (edition === null) return bodyFaults(findings);
  if ((await copy.reader(url)).status === 200) return sameOnly(url, edition.digest, await copy.reader(url));
  const position = edition.value.log && (await log?.agreesWith({ log: edition.value.log }));
  if (position === 'ahead') return [];
  if (position === 'no') findings.add(url, 'digest', 'names another log than the one that is signed');
  const digests = await checkedBodies(world, name, findings);
  if (position === 'yes') await proveEdition(world, name, edition.value.log?.size ?? 0, findings);
  const faults = bodyFaults(findings);
  return faults.length > 0 ? faults : await putBodies(world, digests, url);
}

function sameOnly(url: string, digest: string, copied: { readonly body: Uint8Array }): readonly Finding[] {
  if (bodyDigest(copied.body) === digest) return [];
  return [{ url, rule: 'digest', detail: 'has changed, and an edition never does' }];
}

/** The digests of all bodies of the edition, and of the pages that it shares, by URL. */
async function checkedBodies(
  { upstream, pageSizes }: EditionWorld,
  name: string,
  findings: Findings,
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  const reader: PublicReader = async (url, headers) => {
    if (url === EXPORTS_URL) return { status: 404, headers: new Map(), body: new Uint8Array() };
    const answer = await upstream(url, headers);
    if (url.startsWith(EDITIONS_URL) && answer.status === 200) digests.set(url, bodyDigest(answer.body));
    return answer;
  };
  const report = await verify(editionReader(reader, name), { pageSizes, settled: true });
  findings.all.push(...report.findings);
  return digests;
}

/** Each market as the log had it at the size that the edition names: a market that is left out is a finding, too. */
async function proveEdition(
  { upstream, log, pageSizes }: EditionWorld,
  name: string,
  size: number,
  findings: Findings,
): Promise<void> {
  const reader = editionReader(upstream, name);
  for (const slug of log?.slugs() ?? []) {
    const folded = log?.marketAt(slug, size) ?? null;
    if (folded !== null)
      await checkFolded(reader, findings, slug, { kind: 'shown', ...folded }, pageSizes.observations);
  }
}

async function putBodies(
  { upstream, copy, generation }: EditionWorld,
  digests: ReadonlyMap<string, string>,
  documentUrl: string,
): Promise<readonly Finding[]> {
  // The list was read from its first page, and leads to the markets: targets come first.
  const urls = [...digests.keys()].filter((url) => url !== documentUrl).reverse();
  for (const url of [...urls, documentUrl]) {
    const digest = digests.get(url);
    const copied = await copy.reader(url);
    if (copied.status === 200 && bodyDigest(copied.body) === digest) continue;
    const { status, body } = await upstream(url);
    if (status !== 200 || bodyDigest(body) !== digest) {
      return [{ url, rule: 'digest', detail: 'has changed, and an edition never does' }];
    }
    await copy.putAt(url, { body, generation, nextCursor: nextCursorOf(body) });
  }
  return [];
}

/** Its own bodies; the sweep removes the pages that it shared. False: the copy had no such edition. */
async function removeEdition({ copy }: EditionWorld, name: string): Promise<boolean> {
  const document = PUBLIC_PREFIX + editionUrl(name);
  const isThere = (await copy.head({ kind: 'edition', edition: name })) !== null;
  await copy.remove(document);
  for await (const key of copiedKeys(copy, `${document}/`)) await copy.remove(key);
  return isThere;
}
