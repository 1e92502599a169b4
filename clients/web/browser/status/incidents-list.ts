/** The incidents of the service, newest first. */
import type { PublicIncidents } from '../../../../contract/bodies/incidents.ts';
import { INCIDENTS_FEED_URL, INCIDENTS_FILE_URL } from '../../../../contract/files/routes.ts';
import { addressOf } from '../base-url.ts';
import { badgeClass, element } from '../market/elements.ts';
import { dayText, durationText, momentText, sinceText } from '../market/words.ts';

/** The others are in the file. */
const SHOWN = 10;

/** @param nowMs since the epoch */
export function incidentsList({ since, data }: PublicIncidents, nowMs: number): HTMLElement {
  if (data.length === 0) return element('p', {}, `No incidents recorded since ${dayText(since)}.`);
  const items = data.slice(0, SHOWN).map(({ startedAt, endedAt, summary }) => {
    const endMs = endedAt === null ? nowMs : Date.parse(endedAt);
    const lasted = durationText(endMs - Date.parse(startedAt));
    return element(
      'li',
      {},
      element(
        'time',
        {
          datetime: startedAt,
          title: endedAt === null ? momentText(startedAt) : null,
          class: endedAt === null ? badgeClass('notice') : null,
        },
        endedAt === null ? `ongoing since ${sinceText(startedAt, nowMs)}` : momentText(startedAt),
      ),
      `, ${lasted}: ${summary}`,
    );
  });
  const all = element('a', { href: addressOf(INCIDENTS_FILE_URL) }, 'all of them as JSON');
  const atom = element('a', { href: addressOf(INCIDENTS_FEED_URL) }, 'as a feed');
  return element(
    'div',
    {},
    element('ul', {}, ...items),
    element('p', { class: 'soft small' }, `Recorded since ${dayText(since)}; `, all, ', ', atom, '.'),
  );
}
