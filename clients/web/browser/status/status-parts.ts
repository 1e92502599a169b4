/** The parts of the status page. */

import type { PublicIncidents } from '../../../../contract/bodies/incidents.ts';
import { PROJECTIONS } from '../../../../contract/files/projections.ts';
import { EXPORTS_URL, INCIDENTS_FEED_URL, INCIDENTS_FILE_URL } from '../../../../contract/files/routes.ts';
import { badgeClass } from '../../../../contract/html/html-parts.ts';
import { dayText, momentText } from '../../../../contract/values/instants.ts';
import type { Snapshot } from '../../../../contract/values/market.ts';
import { addressOf, marketAddress } from '../base-url.ts';
import type { MarketFeed } from '../explorer/market-feed.ts';
import { agedTime, badge, dom, facts, type Slot, tableBox } from '../market/elements.ts';
import { durationText, many, sinceText, staleText } from '../market/words.ts';
import type { CheckedLog } from './log-check.ts';
import { publicationLagSeconds, type SourceFreshness } from './source-freshness.ts';
import type { ServiceVerdict } from './verdict.ts';

const entries = (number: number): string => many(number, 'entry', 'entries');

const code = (text: string): HTMLElement => dom`<code>${text}</code>`;

const VERDICTS = {
  operational: ['Operational', 'good'],
  old: ['Running, with old prices', 'notice'],
  delayed: ['Delayed', 'notice'],
  failing: ['Failing', 'alarm'],
} as const;

/** The state of the service, which is shown first. */
export function verdictPanel({ state, reasons }: ServiceVerdict): HTMLElement {
  const [title, look] = VERDICTS[state];
  return dom`<div class="verdict verdict-${look}" data-state="${state}"><p class="verdict-state">${title}</p>
<ul class="stack">${reasons.map((reason) => dom`<li>${reason}</li>`)}</ul></div>`;
}

/** One large number with its texts. */
export function figure(title: string, value: string, below: string): HTMLElement {
  return dom`<div class="panel figure"><dt class="small soft">${title}</dt>
<dd><span class="figure-value">${value}</span><span class="small soft">${below}</span></dd></div>`;
}

export function snapshotFacts(snapshot: Snapshot, feed: MarketFeed): HTMLElement {
  const { counts, generation, listGeneration, publishedAt, projections = [] } = snapshot;
  const lag = publicationLagSeconds(feed.entries, publishedAt);
  const behind = generation - listGeneration;
  return facts([
    ['Generation', generation.toLocaleString('en')],
    ['Published', agedTime(publishedAt)],
    [
      'The list',
      behind === 0
        ? 'shows this generation'
        : `shows generation ${listGeneration.toLocaleString('en')}, ${behind} before it`,
    ],
    lag === null
      ? null
      : ['Lag', `at most ${many(lag, 'second')}, from the recording of the newest price to its publication`],
    ['Markets', counts.markets.toLocaleString('en')],
    [
      'Observations',
      `${counts.observations.toLocaleString('en')}, of which ${many(counts.unknownValues, 'value')} unknown`,
    ],
    ['Files', filesText(projections)],
    projections.includes('exports')
      ? ['Daily export', dom`<a href="${addressOf(`${EXPORTS_URL}.json`)}">the newest one</a>, from the first day on`]
      : null,
  ]);
}

function filesText(projections: readonly string[]): string {
  const off = PROJECTIONS.filter((name) => !projections.includes(name));
  const on = PROJECTIONS.filter((name) => projections.includes(name));
  if (on.length === 0) return 'JSON bodies only: this service publishes no other files';
  return off.length === 0 ? on.join(', ') : `${on.join(', ')}; switched off: ${off.join(', ')}`;
}

export function sourcesTable(sources: readonly SourceFreshness[], nowMs: number): HTMLElement {
  const heads = ['Source', 'Markets', 'Newest price', 'Most outdated market', 'State'];
  const rows = sources.map((source) => {
    const { label, markets, newestKnownAt, newestAt, oldestAt } = source;
    return dom`<tr><th scope="row">${label}</th><td class="number">${markets.toLocaleString('en')}</td>
<td>${newestKnownAt === null ? 'unknown' : agedTime(newestKnownAt)}</td>
<td>${oldestAt === newestAt ? 'the same' : agedTime(oldestAt)}</td><td>${stateOf(source, nowMs)}</td></tr>`;
  });
  return tableBox('Table of sources', heads, [], dom`<tbody>${rows}</tbody>`);
}

function stateOf({ late, lateSince, hasCadence, unknown, staleDays }: SourceFreshness, nowMs: number): Slot {
  const badges: Slot[] = [];
  if (lateSince !== null) {
    badges.push(badge(`${many(late, 'market')} late since ${sinceText(lateSince, nowMs)}`, 'notice'));
  } else if (staleDays !== null) badges.push(badge(staleText(staleDays), 'notice'));
  else badges.push(hasCadence ? badge('on time', 'good') : 'no schedule stated');
  if (unknown > 0) badges.push(' ', badge(`${unknown.toLocaleString('en')} unknown`, 'notice'));
  return badges;
}

/** The checked log: the checks, and their limits. */
export function logFacts(log: CheckedLog, snapshotRoot: string | null): HTMLElement {
  const { size, root, origin, vkeys, signers, newest } = log;
  return facts([
    ['Size', entries(size)],
    ['Root', code(root)],
    ['Name', code(origin)],
    ['Key', vkeys.map((vkey) => [code(vkey), ' '])],
    ['Signatures', signers.map((name) => [code(name), ' '])],
    ['Newest entry', newestText(newest, size)],
    [
      'Checked here',
      [
        check('good', 'The checkpoint is signed with the key that the service shows.'),
        check('good', 'The tiles of the log give the signed root.'),
        newest === null ? null : check('good', 'The newest entry is included in that root.'),
        snapshotRoot === null
          ? null
          : snapshotRoot === root
            ? check('good', 'The snapshot names the same root.')
            : check('plain', 'The snapshot names another root: it is older or newer by a moment.'),
      ],
    ],
  ]);
}

function newestText(newest: CheckedLog['newest'], size: number): Slot {
  if (newest === null) return size === 0 ? 'the log is empty' : 'its text was taken down';
  const { entry, index } = newest;
  const market = typeof entry.market === 'string' ? entry.market : null;
  const link = market && [' of ', dom`<a href="${marketAddress(market)}">${market}</a>`];
  return [`${index.toLocaleString('en')}: ${String(entry.type)}`, link];
}

const LOOKS = { good: 'verified', plain: 'note' } as const;

function check(look: keyof typeof LOOKS, text: string): HTMLElement {
  return dom`<p>${badge(LOOKS[look], look)} ${text}</p>`;
}

/** The facts of a mirror, from its `GET /healthz`. */
export function mirrorFacts({ of, state, ageSeconds, generation }: Readonly<Record<string, unknown>>): HTMLElement {
  const isGood = state === 'current';
  return facts([
    ['Copy of', code(String(of))],
    ['State', badge(String(state), isGood ? 'good' : state === 'forked' ? 'alarm' : 'notice')],
    ['Confirmed', typeof ageSeconds === 'number' ? `${many(ageSeconds, 'second')} ago` : 'never'],
    ['Generation', generation === null ? 'no copy yet' : String(generation)],
  ]);
}

/** The number of shown incidents. The file has all. */
const INCIDENTS_SHOWN = 10;

/** The incidents of the service, newest first. @param nowMs since the epoch */
export function incidentsList({ since, data }: PublicIncidents, nowMs: number): HTMLElement {
  if (data.length === 0) return dom`<p>No incidents recorded since ${dayText(since)}.</p>`;
  const items = data.slice(0, INCIDENTS_SHOWN).map(({ startedAt, endedAt, summary }) => {
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
