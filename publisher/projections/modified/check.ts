/** What must hold of the markets that have changed last: they are those of the list, and of the log. */

import { lastModified, modifiedCsv, readModifiedCsv } from '../../../contract/bodies/modified.ts';
import { LATEST_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { MARKETS_URL, MODIFIED_URL } from '../../../contract/files/routes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { FoldedMarket } from '../../core/log/folded-market.ts';
import { checkHeaders, Findings } from '../../verify/check-body.ts';
import type { CheckContext, LoggedCheck, LoggedContext, ProjectionCheck } from '../../verify/projection-check.ts';

/** If another list was published since it was read, nothing is found, and the next walk looks again. */
export function checkModified({ reader, findings, kinds }: CheckContext): ProjectionCheck {
  return {
    async end({ head, entries, revisions }) {
      if (head === null || entries.length > LATEST_MARKETS_MAX || !(await kinds.has('feeds', MODIFIED_URL))) return;
      const found = new Findings();
      const answer = await reader(MODIFIED_URL);
      const text = Buffer.from(answer.body).toString('utf8');
      if (answer.status !== 200) found.add(MODIFIED_URL, 'status', `answered ${answer.status}, expected 200`);
      else {
        checkHeaders(found, MODIFIED_URL, answer, PUBLIC_OBJECTS.modified.contentType);
        const rows = entries.map(({ slug, updatedAt }, index) => ({
          slug,
          updatedAt,
          revision: revisions[index] ?? 0,
        }));
        if (modifiedCsv(lastModified(rows)) !== text) found.add(MODIFIED_URL, 'file', 'differs from the list');
      }
      if (found.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === head.digest)
        findings.all.push(...found.all);
    },
  };
}

/** Each row must be what the log had of its market, and not too long ago. */
export async function checkLoggedModified({
  reader,
  findings,
  isAskedFor,
  isKept,
  lateness,
  listed,
  miss,
}: LoggedContext): Promise<LoggedCheck> {
  // A copy leaves it out.
  if (!isAskedFor('feeds') || (isKept && listed > LATEST_MARKETS_MAX)) return {};
  const { status, body } = await reader(MODIFIED_URL);
  const read = status === 200 ? readModifiedCsv(Buffer.from(body).toString('utf8')) : new Map();
  if (read === null) findings.add(MODIFIED_URL, 'not-in-log', 'has another form than rows of markets in the log');
  const rows: NonNullable<typeof read> = read ?? new Map();
  const checked = new Set<string>();
  let shown = 0;
  const skip = (slug: string, isShown: boolean) => {
    checked.add(slug);
    if (isShown) shown++;
  };
  return {
    shown: (slug) => JSON.stringify(rows.get(slug) ?? null),
    skip,
    async market(past, folded, ofList) {
      const { slug } = past;
      skip(slug, folded.kind === 'shown');
      const row = rows.get(slug);
      if (row === undefined) return;
      const isShown = ({ revision, record }: FoldedMarket) =>
        revision === row.revision && record(null).updatedAt === row.updatedAt;
      const isRight = isKept
        ? ofList().some(isShown)
        : (folded.kind === 'shown' && isShown(folded)) || past.wasShown(lateness, isShown);
      if (!isRight) findings.add(MODIFIED_URL, 'not-in-log', `${slug} differs from the log, or is too old`);
    },
    async end() {
      for (const slug of rows.keys())
        if (!checked.has(slug)) findings.add(MODIFIED_URL, 'not-in-log', `shows ${slug}, which the log lacks`);
      if (status !== 200 && shown > 0 && shown <= LATEST_MARKETS_MAX) miss('feeds', MODIFIED_URL);
    },
  };
}
