/** A list of proven items may still leave markets out, or be old. The log tells. */

import { MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import { defaultListEverySeconds } from '../../publisher/dependencies.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import { type Lateness, SLACK_MS } from '../../publisher/verify/past-market.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import type { MirrorWorld } from './mirror-world.ts';

/** A list is published this often at least, if the log does not say otherwise. */
const LIST_SECONDS_MIN = 60;

/**
 * @param snapshot names the list, and a log of the size that is verified. Null: it does not. Then the list may be older
 *   than the log, but not by more than two lists and a slack
 */
export function checkWholeList(
  { log, known, nowMs }: Pick<MirrorWorld, 'log' | 'known' | 'nowMs'>,
  listed: ReadonlySet<string>,
  snapshot: Snapshot | null,
): readonly Finding[] {
  if (log === null) return [];
  const findings = new Findings();
  // A long list has a cadence.
  const isExact = snapshot !== null && snapshot.listGeneration === snapshot.generation;
  const { listSeconds = Math.max(LIST_SECONDS_MIN, defaultListEverySeconds(listed.size)) } = log.service ?? {};
  const lateness: Lateness = { nowMs: nowMs(), mostMs: 2 * listSeconds * 1000 + SLACK_MS };
  for (const slug of log.shown()) {
    const revision = known.revisionOf(slug);
    if (!listed.has(slug)) {
      if (isExact || log.pastOf(slug).isLateIfMissing(lateness))
        findings.add(marketUrl(slug), 'not-in-log', 'is in the log, and not in the list');
    } else if (revision !== undefined && revision !== log.revisionOf(slug)) {
      const past = log.pastOf(slug);
      const { updatedAt = null } = past.at(revision)[0]?.record(null) ?? {};
      if (isExact || past.isLate(revision, updatedAt, lateness))
        findings.add(MARKETS_URL, 'time', `still shows revision ${revision} of ${slug}`);
    }
  }
  const named: readonly string[] = snapshot?.projections ?? [];
  for (const kind of snapshot === null ? [] : (log.service?.projections ?? [])) {
    if (!named.includes(kind))
      findings.add(SNAPSHOT_URL, 'not-in-log', `does not name ${kind}, which the log says there is`);
  }
  const counts = known.countsOf(listed);
  if (isExact && canonicalJson(snapshot.counts) !== canonicalJson(counts)) {
    const detail = `counts ${canonicalJson(snapshot.counts)}, by the log ${canonicalJson(counts)}`;
    findings.add(SNAPSHOT_URL, 'count', detail);
  }
  return findings.all;
}
