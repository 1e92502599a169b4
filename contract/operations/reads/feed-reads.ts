/** The public reads of feeds, for programs that follow changes. */
import * as z from 'zod';
import { slugSchema } from '../../values/market.ts';
import { publicReads, textFile } from '../operation.ts';

const ATOM = 'application/atom+xml';

const feedFile = () => textFile('The feed', ATOM, 'Atom (RFC 4287), UTF-8.');

const EVENTS =
  'At most 100 entries, newest first. The category says what happened: `new-value`, `announced`, `effective`, ' +
  '`correction`, `retraction` or `removal`. A correction names the old value and the new one. `via` leads to the source, ' +
  '`related` to the history of the market, with the id of the observation behind the `#`. Links are relative to the URL of the feed.';
export const SWITCHED = (name: string) =>
  `Not every deployment publishes it: \`${name}\` in \`projections\` of the snapshot.`;

export const feedReads = publicReads({
  getChangesFeed: {
    path: '/feeds/changes.atom',
    summary: 'Follow new values, corrections, retractions and removals of all markets',
    description: `${EVENTS} ${SWITCHED('feeds')}`,
    success: feedFile(),
    example: { response: example('changes') },
  },
  getCorrectionsFeed: {
    path: '/feeds/corrections.atom',
    summary: 'Follow corrections and retractions of all markets',
    description: `${EVENTS} ${SWITCHED('feeds')}`,
    success: feedFile(),
    example: { response: example('corrections') },
  },
  getMarketFeed: {
    path: '/feeds/markets/{slug}.atom',
    summary: 'Follow one market',
    description: `${EVENTS} ${SWITCHED('market-feeds')}`,
    params: z.strictObject({ slug: slugSchema }),
    success: feedFile(),
    problems: ['market-removed'],
    example: { params: { slug: 'gold-usd' }, response: example('markets/gold-usd') },
  },
  getIncidentsFeed: {
    path: '/feeds/incidents.atom',
    summary: 'Follow the incidents of the service',
    description:
      'The incidents of `/api/v1/incidents.json`, in its order. The category is the kind. An entry is updated when its incident is over. ' +
      SWITCHED('feeds'),
    success: feedFile(),
    example: { response: example('incidents') },
  },
  getReleases: {
    path: '/feeds/releases.ics',
    summary: 'Subscribe to a calendar of when each source is expected to publish',
    description:
      'iCalendar (RFC 5545): one event for each source and cadence, with its holidays until the end of the second year after ' +
      'the newest expected value. Sources that publish every few minutes are not in it. Published with the list. ' +
      SWITCHED('feeds'),
    success: textFile('The calendar', 'text/calendar', 'iCalendar (RFC 5545), UTF-8.'),
    example: { response: 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Tidemark//Releases//EN\r\nEND:VCALENDAR\r\n' },
  },
});

function example(path: string): string {
  return (
    '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n' +
    `<link rel="self" type="application/atom+xml" href="${path}.atom"/>\n</feed>\n`
  );
}
