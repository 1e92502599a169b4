/** Takes over the files of one history: whole, by year, and their index. */

import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import { snapshotSchema } from '../../contract/values/market.ts';
import { checkFiles } from '../../publisher/projections/history-files/check-files.ts';
import { areFilesBehind } from '../../publisher/projections/history-files/check-older-files.ts';
import { checkBody, Findings } from '../../publisher/verify/check-body.ts';
import type { ReadHistory } from '../../publisher/verify/projection-check.ts';
import type { PublicReader, PublicResponse } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyDigest } from '../../storage/ports/object-rules.ts';
import { bodyFaults } from './body-faults.ts';
import { type RecordedAnswers, recorded } from './fresh-reader.ts';
import type { MirrorWorld } from './mirror-world.ts';

export type CopiedFiles =
  | {
      readonly kind: 'checked';
      readonly answers: RecordedAnswers;
      readonly put: () => Promise<void>;
    }
  | { readonly kind: 'stale' }
  | { readonly kind: 'faulty'; readonly findings: readonly Finding[] };

/** Whether the service says that it publishes such files. A market with a short history has none. */
export async function publishesFiles(upstream: PublicReader): Promise<boolean> {
  const snapshot = await checkBody(upstream, new Findings(), SNAPSHOT_URL, snapshotSchema);
  return snapshot?.value.projections?.includes('history-files') === true;
}

/**
 * Reads and checks the files. They must have what the pages have that were read.
 *
 * @param pages answers with the pages
 */
export async function copyFiles(
  { upstream, copy, generation, doubts }: MirrorWorld,
  slug: string,
  history: ReadHistory,
  pages: ReadonlyMap<string, PublicResponse>,
): Promise<CopiedFiles> {
  const findings = new Findings();
  const files = recorded(upstream);
  await checkFiles(async (url) => pages.get(url) ?? (await files.reader(url)), findings, slug, history);
  if (bodyFaults(findings).length > 0) {
    // Pages and files may come from a cache that keeps each for a time of its own. A fault is there again after that time,
    // in the same bytes. So is a file that waits for its turn, and the copy has no snapshot that says so.
    const seen = [history.headDigest, ...[...files.answers.values()].map(({ body }) => bodyDigest(body))].join();
    const isSame = doubts.get(slug) === seen;
    doubts.set(slug, seen);
    const isFault = isSame && !(await areFilesBehind(upstream));
    return isFault ? { kind: 'faulty', findings: bodyFaults(findings) } : { kind: 'stale' };
  }
  const put = async () => {
    for (const [url, { status, headers, body }] of files.answers) {
      if (status === 404) continue;
      const contentType = headers.get('content-type');
      const isGone = contentType !== undefined && statusOfObject(contentType) === 410;
      await copy.putAt(url, { body, generation, ...(isGone && { contentType }) });
    }
  };
  return { kind: 'checked', answers: files.answers, put };
}
