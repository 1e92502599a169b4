/** Checks order, overlap, and that the feed has the same incidents. Only the ledger knows that they happened. */
import { incidentsSchema } from '../../../contract/bodies/incidents.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { INCIDENTS_FEED_URL, INCIDENTS_FILE_URL } from '../../../contract/files/routes.ts';
import { checkAnswer, checkHeaders, Findings } from '../../verify/check-body.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { incidentsFeed } from './feed.ts';
import { readIncidents } from './incident.ts';

const ORIGIN = /\n<author><name>([^<\n]*)<\/name><\/author>\n/;

/** If the file was replaced while the feed was read, nothing is found, and the next walk looks again. */
export function checkIncidents({ reader, findings, kinds }: CheckContext): ProjectionCheck {
  return {
    async end() {
      if (!(await kinds.has('feeds', INCIDENTS_FILE_URL))) return;
      const found = new Findings();
      const answer = await reader(INCIDENTS_FILE_URL);
      const file = checkAnswer(found, INCIDENTS_FILE_URL, answer, incidentsSchema);
      const read = file === null ? null : readIncidents(file.text);
      if (file !== null && read === null)
        found.add(INCIDENTS_FILE_URL, 'file', 'has incidents that overlap, or in another order');
      const feed = await reader(INCIDENTS_FEED_URL);
      const text = Buffer.from(feed.body).toString('utf8');
      if (feed.status !== 200) found.add(INCIDENTS_FEED_URL, 'status', `answered ${feed.status}, expected 200`);
      else checkHeaders(found, INCIDENTS_FEED_URL, feed, PUBLIC_OBJECTS['incidents-feed'].contentType);
      const isRight = read === null || feed.status !== 200 || isFeedOf(read, text);
      if (!isRight) found.add(INCIDENTS_FEED_URL, 'file', 'has other incidents than their file');
      const isSame = (await reader(INCIDENTS_FILE_URL)).body.every((byte, place) => byte === answer.body[place]);
      if (isSame) findings.all.push(...found.all);
    },
  };
}

function isFeedOf({ since, incidents }: NonNullable<ReturnType<typeof readIncidents>>, text: string): boolean {
  const origin = ORIGIN.exec(text)?.[1];
  return origin !== undefined && incidentsFeed(origin, since, incidents) === text;
}
