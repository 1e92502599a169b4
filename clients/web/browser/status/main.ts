/** The page of the service's state, from public files alone. A part that cannot be read hides no other part. */

import type { PublicIncidents } from '../../../../contract/bodies/incidents.ts';
import { INCIDENTS_FILE_URL } from '../../../../contract/files/routes.ts';
import { dayText } from '../../../../contract/values/instants.ts';
import type { Snapshot } from '../../../../contract/values/market.ts';
import { addressOf } from '../base-url.ts';
import { MarketFeed } from '../explorer/market-feed.ts';
import { PublicAnswers } from '../history/public-answers.ts';
import { dom } from '../market/elements.ts';
import { agoText } from '../market/words.ts';
import { POLL_SECONDS, pollWhileVisible } from '../poll.ts';
import { LogWatch } from './log-watch.ts';
import { askHealth, type ServiceHealth } from './service-health.ts';
import { later, type SourceFreshness, sourceFreshness } from './source-freshness.ts';
import {
  figure,
  incidentsList,
  logFacts,
  mirrorFacts,
  snapshotFacts,
  sourcesTable,
  verdictPanel,
} from './status-parts.ts';
import { verdictOf } from './verdict.ts';

/** A file that is not there is asked for again after this time: each such answer is an error in the browser's log. */
const MISSING_MS = 10 * 60_000;

/** A JSON file that may not be there. */
class OptionalFile {
  body: unknown = null;
  isMissing = false;
  problem: string | null = null;
  #askAgainMs = 0;
  readonly #path: string;
  readonly #answers = new PublicAnswers();

  constructor(path: string) {
    this.#path = path;
  }

  async refresh(): Promise<void> {
    if (Date.now() < this.#askAgainMs) return;
    try {
      const answer = await this.#answers.readAgain(this.#path);
      if (answer.kind === 'found') this.body = answer.body;
      this.isMissing = answer.kind === 'missing' || answer.kind === 'gone';
      if (this.isMissing) this.#askAgainMs = Date.now() + MISSING_MS;
      this.problem = null;
    } catch (error) {
      this.problem = (error as Error).message;
    }
  }
}

const feed = new MarketFeed();
const log = new LogWatch();
const incidents = new OptionalFile(INCIDENTS_FILE_URL);
let health: ServiceHealth | null = null;
let problem: string | null = null;
let answeredMs = 0;

async function refresh(): Promise<void> {
  try {
    await feed.refresh(false);
    answeredMs = Date.now();
    problem = null;
  } catch (error) {
    problem = (error as Error).message;
  }
  health = feed.hasServer ? await askHealth() : null;
  draw();
  const { snapshot } = feed;
  await Promise.all([
    snapshot?.log === undefined ? null : log.refresh(snapshot.log.root),
    snapshot?.projections?.includes('feeds') ? incidents.refresh() : null,
  ]);
  (document.getElementById('status') as HTMLElement).dataset.ready = 'true';
}

function draw(): void {
  const { snapshot, nowMs, isStale, ageSeconds } = feed;
  const sources = sourceFreshness(feed.entries, nowMs);
  const mirror = health?.mirror ?? null;
  const logFault = log.fault?.isFound ? log.fault.text : null;
  const facts = { problem, snapshot, copySeconds: isStale ? ageSeconds : null, health, sources, logFault, nowMs };
  if (answeredMs !== 0 || problem !== null) put('verdict', verdictPanel(verdictOf(facts)));
  put('notices', problem === null ? null : softText(problemText()));
  put('mirror', mirror === null ? null : mirrorFacts(mirror));
  (document.getElementById('mirror-section') as HTMLElement).hidden = mirror === null;
  if (snapshot === null) return;
  put('figures', figures(snapshot, sources));
  put('snapshot', snapshotFacts(snapshot, feed));
  put('sources', sourcesPart(sources));
  put('incidents', incidentsPart(snapshot));
  put('log', logPart(snapshot));
}

function problemText(): string {
  const rest = answeredMs === 0 ? '' : `Everything below is as it was ${agoText(Date.now() - answeredMs)}. `;
  return `${rest}The page asks again every ${POLL_SECONDS} seconds.`;
}

function figures(snapshot: Snapshot, sources: readonly SourceFreshness[]): HTMLElement {
  const { counts } = snapshot;
  const late = sources.filter(({ lateSince, staleDays }) => lateSince !== null || staleDays !== null).length;
  const newest = sources.reduce<string | null>((last, { newestKnownAt }) => later(newestKnownAt, last), null);
  const day = newest === null ? 'none' : dayText(newest);
  const age = newest === null ? 'no price yet' : agoText(feed.nowMs - Date.parse(newest));
  const published = `files published ${agoText(feed.nowMs - Date.parse(snapshot.publishedAt))}`;
  return dom`<dl class="figures">${[
    figure('Newest price', day, age),
    figure('Markets', counts.markets.toLocaleString('en'), `${counts.observations.toLocaleString('en')} observations`),
    figure('Late or outdated sources', `${late} of ${sources.length}`, published),
    figure('Entries in the log', snapshot.log?.size.toLocaleString('en') ?? 'no log', logWords()),
  ]}</dl>`;
}

function logWords(): string {
  if (feed.snapshot?.log === undefined) return 'switched off';
  if (log.fault?.isFound) return 'a check failed';
  if (log.fault !== null) return 'not checked';
  return log.checked === null ? 'being checked …' : 'verified in your browser';
}

function sourcesPart(sources: readonly SourceFreshness[]): HTMLElement {
  const { entries, hasMore, nowMs } = feed;
  if (sources.length === 0) return softText('No value is published yet.');
  const never = entries.filter(({ source }) => source === null).length;
  const read = entries.length.toLocaleString('en');
  return dom`<div>${sourcesTable(sources, nowMs)}
${never === 0 ? null : softText(`Markets without any value: ${never.toLocaleString('en')}.`)}
${hasMore ? softText(`Only the first ${read} markets are counted.`) : null}</div>`;
}

function logPart({ log: named }: Snapshot): HTMLElement {
  if (named === undefined) return softText('This service publishes no log, so no signature proves its values.');
  const { fault, checked } = log;
  if (fault === null && checked === null) return softText('The log is being checked …');
  const begin = fault?.isFound ? 'A check failed' : 'The log was not checked';
  const look = fault?.isFound ? 'notice notice-alarm' : 'notice';
  return dom`<div>${fault && dom`<p class="${look}">${begin}: ${fault.text}.</p>`}${checked && logFacts(checked, named.root)}
${checked && keyText(`Checked ${agoText(Date.now() - log.checkedMs)}. `)}</div>`;
}

/** A signature proves only as much as its key does. */
function keyText(begin: string): HTMLElement {
  return dom`<p class="soft small">${begin}The key comes from this host, too. Compare it with what the operator says
elsewhere: only then does the signature prove who signed. <a href="${addressOf('/docs/guides/log.html')}">How to follow the log</a></p>`;
}

function incidentsPart({ projections }: Snapshot): HTMLElement {
  const { body, problem, isMissing } = incidents;
  if (isMissing || !projections?.includes('feeds')) return softText('This service publishes no incidents.');
  return part(problem, body === null ? null : incidentsList(body as PublicIncidents, feed.nowMs));
}

const softText = (text: string): HTMLElement => dom`<p class="soft small">${text}</p>`;

/** @param failure why the newest state could not be read */
function part(failure: string | null, body: HTMLElement | null): HTMLElement {
  const notice = failure && dom`<p class="notice">The newest version could not be read: ${failure}.</p>`;
  return dom`<div>${notice}${body}</div>`;
}

/** Replaces the content of a part, if it has changed: what is the same keeps the focus and the selection. */
function put(id: string, content: HTMLElement | null): void {
  const place = document.getElementById(`status-${id}`) as HTMLElement;
  const shown = place.firstElementChild;
  if (content === null) place.replaceChildren();
  else if (!content.isEqualNode(shown)) place.replaceChildren(content);
}

pollWhileVisible(refresh, draw);
