/** Checks how bodies are sent: the header fields for browsers, and the conditional requests by which pollers avoid downloads. */
import { SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type Findings, isEntityTag } from '../check-body.ts';
import type { PublicReader, PublicResponse } from './reader.ts';

/** Pages of any origin may read the API, and browsers must not guess another type. */
const FOR_BROWSERS = { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' } as const;

/** An entity tag that no body has. */
const NO_BODY_HAS_IT = '"no-body-has-this-entity-tag"';

/** Clocks may differ by this much. */
const CLOCK_SLACK_MS = 5 * 60 * 1000;

/**
 * Requests each URL twice: with an entity tag that no body has, and with its own tag.
 *
 * @param settled whether nothing is being published
 */
export async function checkTransport(
  reader: PublicReader,
  findings: Findings,
  urls: readonly string[],
  settled: boolean,
): Promise<void> {
  const byTag = new Map<string, string>();
  for (const url of urls) {
    const answer = await reader(url, { 'if-none-match': NO_BODY_HAS_IT });
    if (answer.status === 304) findings.add(url, 'conditional', 'answered 304 to an ETag that no body has');
    // The walk has already reported any other status.
    if (answer.status !== 200) continue;
    for (const [name, expected] of Object.entries(FOR_BROWSERS)) {
      const found = answer.headers.get(name);
      if (found !== expected) findings.add(url, 'headers', `${name} is ${found ?? 'missing'}, expected ${expected}`);
    }
    const tag = answer.headers.get('etag') ?? '';
    if (!isEntityTag(tag)) continue;
    const digest = sha256Hex(answer.body);
    if ((byTag.get(tag) ?? digest) !== digest)
      findings.add(url, 'digest', `its entity tag ${tag} names another body, too`);
    byTag.set(tag, digest);
    await checkOwnTag(reader, findings, url, tag, digest, settled);
  }
}

/**
 * A poller that has the newest bytes must get 304 without a body (RFC 9110, section 15.4.5). A tag that changes without the
 * bytes is useless.
 */
async function checkOwnTag(
  reader: PublicReader,
  findings: Findings,
  url: string,
  tag: string,
  digest: string,
  settled: boolean,
): Promise<void> {
  const hasChanged = ({ headers, body }: PublicResponse) => headers.get('etag') !== tag && sha256Hex(body) !== digest;
  const known = await reader(url, { 'if-none-match': tag });
  if (known.status === 304 && known.body.length === 0) return;
  // The body may have changed in the meantime.
  if (known.status === 200 && !settled && hasChanged(known)) return;
  findings.add(url, 'conditional', `answered ${known.status} to its own ETag, expected 304`);
}

/** If the snapshot's time is in the future, mirrors and clients would take later generations for older ones. */
export function checkPublishedAt(findings: Findings, publishedAt: string, nowMs: number): void {
  if (Date.parse(publishedAt) - nowMs > CLOCK_SLACK_MS)
    findings.add(SNAPSHOT_URL, 'time', `was published at ${publishedAt}, which is in the future`);
}
