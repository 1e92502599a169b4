/** What must hold of the calendar: its events are those of the sources of all markets in the list. */
import { LATEST_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { MARKETS_URL, RELEASES_URL } from '../../../contract/files/routes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkHeaders, Findings } from '../../verify/check-body.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { calendarOrigin, calendarText, Releases } from './calendar.ts';

/** If another list was published since it was read, nothing is found, and the next walk looks again. */
export function checkReleases({ reader, findings, snapshot }: CheckContext): ProjectionCheck {
  const releases = new Releases();
  let walked = 0;
  return {
    async market({ item }) {
      releases.add(item);
      walked++;
    },
    async end({ head, entries }) {
      if (head === null || entries.length > LATEST_MARKETS_MAX) return;
      const answer = await reader(RELEASES_URL);
      const text = Buffer.from(answer.body).toString('utf8');
      const isNamed = snapshot?.projections?.includes('feeds') === true;
      const found = new Findings();
      if (answer.status === 200) checkHeaders(found, RELEASES_URL, answer, PUBLIC_OBJECTS.releases.contentType);
      // A share of the markets, or a copy, does not show all sources.
      const isWhole = walked === entries.length;
      const isAnyExpected = releases.all.length > 0;
      if (answer.status === 200 && isWhole) {
        const origin = calendarOrigin(text);
        const isRight = origin !== null && (!isAnyExpected || calendarText(releases.all, origin) === text);
        if (!isRight) found.add(RELEASES_URL, 'file', 'has other events than the sources of the list');
      } else if (answer.status !== 200 && isNamed && isAnyExpected) {
        found.add(RELEASES_URL, 'status', `answered ${answer.status}, expected 200`);
      }
      if (found.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === head.digest)
        findings.all.push(...found.all);
    },
  };
}
