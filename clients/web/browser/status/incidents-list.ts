/** The incidents of the service, newest first. */
import type { PublicIncidents } from '../../../../contract/bodies/incidents.ts';
import { INCIDENTS_FEED_URL, INCIDENTS_FILE_URL } from '../../../../contract/files/routes.ts';
import { badgeClass } from '../../../../contract/html/html-parts.ts';
import { dayText, momentText } from '../../../../contract/values/instants.ts';
import { addressOf } from '../base-url.ts';
import { dom } from '../market/elements.ts';
import { durationText, sinceText } from '../market/words.ts';

/** The number of shown incidents. The file has all. */
const SHOWN = 10;

/** @param nowMs since the epoch */
export function incidentsList({ since, data }: PublicIncidents, nowMs: number): HTMLElement {
  if (data.length === 0) return dom`<p>No incidents recorded since ${dayText(since)}.</p>`;
  const items = data.slice(0, SHOWN).map(({ startedAt, endedAt, summary }) => {
    const isOver = endedAt !== null;
    const lasted = durationText((isOver ? Date.parse(endedAt) : nowMs) - Date.parse(startedAt));
    const words = isOver ? momentText(startedAt) : `ongoing since ${sinceText(startedAt, nowMs)}`;
    const look = isOver ? '' : badgeClass('notice');
    return dom`<li><time datetime="${startedAt}" title="${momentText(startedAt)}" class="${look}">${words}</time>,
${lasted}: ${summary}</li>`;
  });
  return dom`<div><ul>${items}</ul><p class="soft small">Recorded since ${dayText(since)};
<a href="${addressOf(INCIDENTS_FILE_URL)}">all of them as JSON</a>,
<a href="${addressOf(INCIDENTS_FEED_URL)}">as a feed</a>.</p></div>`;
}
