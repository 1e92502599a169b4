/** Checks the first page for people, and the files that it loads. */
import { ROWS_PLACE } from '../../../contract/bodies/front-page.ts';
import { PAGE_CONTENT_TYPE } from '../../../contract/files/page-headers.ts';
import { PUBLIC_OBJECTS, PUBLIC_PREFIX, parsePublicKey } from '../../../contract/files/public-objects.ts';
import { MARKETS_URL } from '../../../contract/files/routes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkEntityTag, checkHeaders, type Findings } from '../../verify/check-body.ts';
import type { ReadListing } from '../../verify/projection-check.ts';
import type { PublicReader, PublicResponse } from '../../verify/reading/reader.ts';
import { FRONT_ROWS, frontRows } from './front-page.ts';

/** Scripts, stylesheets and images of the same host. Links of a built page are relative to its file. */
const ASSET = /\b(?:src|href)="\/?(assets\/[^"]+)"/g;

/**
 * The pages may be of another version, or missing: then nothing is checked. But a page must not run scripts of other hosts,
 * and the files that it names must exist.
 */
export async function checkSite(reader: PublicReader, findings: Findings, list: ReadListing): Promise<void> {
  const page = await reader('/');
  if (page.status === 404) return;
  if (!checkFile(findings, '/', page, PAGE_CONTENT_TYPE)) return;
  const policy = page.headers.get('content-security-policy') ?? 'missing';
  if (!policy.includes("default-src 'none'") || policy.includes('unsafe-')) {
    findings.add('/', 'headers', `content-security-policy is ${policy}, expected one that begins with nothing`);
  }
  const text = Buffer.from(page.body).toString('utf8');
  if (!(await areRowsRight(reader, text, list))) findings.add('/', 'file', 'shows other markets than the list');
  const assets = text.matchAll(ASSET);
  for (const url of new Set(Array.from(assets, ([, asset]) => `/${asset}`))) {
    const name = parsePublicKey(PUBLIC_PREFIX + url);
    if (name === null) findings.add('/', 'link', `names ${url}, which is not a file of the site`);
    else checkFile(findings, url, await reader(url), PUBLIC_OBJECTS[name.kind].contentType);
  }
}

/** A mirror's copy has no rows. If another list was published in the meantime, the next walk checks again. */
async function areRowsRight(reader: PublicReader, text: string, { head, entries }: ReadListing): Promise<boolean> {
  const [, rows] = /<tbody role="rowgroup">\n(.*?)<\/tbody>/s.exec(text) ?? [];
  if (rows === undefined || text.includes(ROWS_PLACE) || head === null) return true;
  const first = entries.slice(0, Math.min(FRONT_ROWS, rows.split('<tr ').length - 1));
  if (first.length === 0 && entries.length > 0) return false;
  if ([true, false].some((arePagesOfMarkets) => frontRows(first, arePagesOfMarkets) === rows)) return true;
  return sha256Hex((await reader(MARKETS_URL)).body) !== head.digest;
}

/** Checks that a file exists and has the right type. */
function checkFile(findings: Findings, url: string, answer: PublicResponse, contentType: string): boolean {
  if (answer.status !== 200) {
    findings.add(url, 'status', `answered ${answer.status}, expected 200`);
    return false;
  }
  checkHeaders(findings, url, answer, contentType);
  checkEntityTag(findings, url, answer);
  return true;
}
