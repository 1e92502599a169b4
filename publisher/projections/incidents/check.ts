/** Checks order and overlap, and that the feed has the same incidents. Only the ledger can prove that they happened. */
import { incidentsSchema } from '../../../contract/bodies/incidents.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { INCIDENTS_FEED_URL, INCIDENTS_FILE_URL } from '../../../contract/files/routes.ts';
import { originIn } from '../../kernel/text/atom.ts';
import { checkAnswer, Findings } from '../../verify/check-body.ts';
import { bodyText } from '../../verify/check-file.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { incidentsFeed } from './feed.ts';
import { readIncidents } from './incident.ts';

/** If the file was replaced while the feed was read, there is no finding, and the next walk checks again. */
export function checkIncidents({ reader, findings, read, isStated }: CheckContext): ProjectionCheck {
  return {
    async end() {
      const answer = await read('feeds', INCIDENTS_FILE_URL, null);
      if (answer === null && !isStated('feeds')) return;
      const found = new Findings();
      const file = answer && checkAnswer(found, INCIDENTS_FILE_URL, answer, incidentsSchema);
      const incidents = file && readIncidents(file.text);
      if (file !== null && incidents === null)
        found.add(INCIDENTS_FILE_URL, 'file', 'has incidents that overlap, or in another order');
      const feed = await read('feeds', INCIDENTS_FEED_URL, PUBLIC_OBJECTS['incidents-feed'].contentType);
      if (incidents !== null && feed !== null && !isFeedOf(incidents, bodyText(feed)))
        found.add(INCIDENTS_FEED_URL, 'file', 'has other incidents than their file');
      const isSame = (await reader(INCIDENTS_FILE_URL)).body.every((byte, place) => byte === answer?.body[place]);
      if (isSame) findings.all.push(...found.all);
    },
  };
}

function isFeedOf({ since, incidents }: NonNullable<ReturnType<typeof readIncidents>>, text: string): boolean {
  const origin = originIn(text);
  return origin !== undefined && incidentsFeed(origin, since, incidents) === text;
}
