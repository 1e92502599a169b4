/** The page of all markets: reads them, shows the selected ones, and reads again while the page is visible. */

import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { knownValue, newestKnownMoment } from '../../../../contract/bodies/latest-words.ts';
import { CHANGE_SPANS } from '../../../../contract/bodies/price-change.ts';
import { MARKETS_URL } from '../../../../contract/files/routes.ts';
import { dayText, laterInstant, momentText } from '../../../../contract/values/instants.ts';
import { addressOf } from '../base-url.ts';
import { button, dom, fill } from '../market/elements.ts';
import { agoText, many } from '../market/words.ts';
import { POLL_SECONDS, pollWhileVisible } from '../poll.ts';
import { DailyChanges } from './daily-changes.ts';
import { FrontCheck } from './front-check.ts';
import { sortedEntries } from './list-order.ts';
import {
  countsBy,
  ListSelector,
  type ListSort,
  type ListView,
  parseView,
  viewFragment,
  WHOLE_VIEW,
} from './list-view.ts';
import { MarketFeed } from './market-feed.ts';
import { prepareSearch } from './market-search.ts';
import { MarketTable, ROWS_PER_PAGE } from './market-table.ts';
import { metricColumns } from './metric-columns.ts';
import { RowPrices } from './row-prices.ts';
import { NOT_SORTED, ViewControls } from './view-controls.ts';

/** The count is spoken once the typing has paused. */
const SPOKEN_AFTER_MS = 600;
/** The rows follow a letter after this time, unless another letter comes: a key is never held up by a search. */
const FOLLOWS_AFTER_MS = 50;
/** Sorts that begin with the largest value. */
const LARGEST_FIRST: readonly ListSort[] = ['price', ...CHANGE_SPANS];

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const tableElement = byId('markets') as HTMLTableElement;
const table = new MarketTable(tableElement, sortBy);
const controls = new ViewControls(changeView, chooseSort);
const feed = new MarketFeed();
const check = new FrontCheck();
const selector = new ListSelector();
const rowPrices = new RowPrices(feed.answers, () => show());
const changes = new DailyChanges(feed.answers, () => (changes.state === 'reading' ? showProgress() : show()));

let view = parseView(location.hash) ?? WHOLE_VIEW;
/** The index of the first row on the shown page. */
let first = 0;
/** Why the last request failed. Null: it succeeded. */
let problem: string | null = null;
/** The time of the last answer, by this computer's clock. 0: none yet. */
let answeredMs = 0;
let writing: ReturnType<typeof setTimeout> | undefined;
/** Whether the newest entry of the browser's history is a search text. */
let isTyping = false;
let speaking: number | undefined;
/** The columns of the selected markets instead of the price. */
let columns: ReturnType<typeof metricColumns> = null;
/**
 * All entries in the order of the view, and the inputs of that order. Sorting 20,000 entries again for each letter would be
 * slow.
 */
let sorted: readonly LatestEntry[] = [];
let sortedOf: readonly unknown[] = [];

function changeView(change: Partial<ListView>): void {
  const isText = Object.keys(change).join() === 'text';
  clearTimeout(writing);
  if (!isText) writeView(true);
  view = { ...view, ...change };
  first = 0;
  if (isText) {
    writing = setTimeout(() => {
      writeView(true);
      show();
    }, FOLLOWS_AFTER_MS);
    return;
  }
  writeView(false);
  show();
}

/** Each choice is an entry of the browser's history; the letters of a search are one entry together. */
function writeView(isText: boolean): void {
  const fragment = viewFragment(view);
  const address = fragment === '' ? location.pathname + location.search : `#${fragment}`;
  if (new URL(address, location.href).href === location.href) return;
  if (isText && isTyping) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  isTyping = isText;
}

function chooseSort(sort: ListSort): void {
  changeView({ sort, isDescending: LARGEST_FIRST.includes(sort) });
}

function sortBy(sort: ListSort): void {
  if (sort === view.sort) changeView({ isDescending: !view.isDescending });
  else chooseSort(sort);
}

async function refresh(): Promise<void> {
  try {
    await feed.refresh(true);
    answeredMs = Date.now();
    problem = null;
  } catch (error) {
    problem = (error as Error).message;
  }
}

/** All entries in the order of the view. */
function ordered(): readonly LatestEntry[] {
  const { entries, recent } = feed;
  const { shares } = changes;
  const of = [entries, recent, shares, view.sort, view.isDescending];
  if (of.some((each, at) => each !== sortedOf[at])) {
    sorted = sortedEntries(entries, view, { recent, shares: areOfRows() ? shares : null });
    sortedOf = of;
    prepareSearch(sorted);
  }
  return sorted;
}

function show(): void {
  const { entries } = feed;
  if (sortsByDailyFiles() && changes.state === 'idle') changes.read();
  const selected = selector.select(ordered(), view);
  first = Math.min(first, lastPage(selected.length));
  columns = metricColumns(selected);
  const shown = selected.slice(first, first + ROWS_PER_PAGE);
  const hasCharts = showRows(shown);
  if (hasCharts && areOfRows()) rowPrices.watch(shown, tableElement.tBodies[0]?.rows ?? []);
  if (sortsByDailyFiles() && changes.shares === null) table.showSort('name', false);
  else table.showSort(view.sort, view.isDescending);
  controls.show(view, entries);
  controls.offerChanges(!areOfRows() || feed.hasDailyFiles);
  showNotices();
  showFacts();
  showCount(selected.length);
  check.show(selected.find((entry) => knownValue(entry) !== null) ?? null, answeredMs > 0 ? feed.snapshot : null);
  byId('explorer').dataset.ready = String(answeredMs > 0);
}

/** Whether last prices are known only for the visible rows. */
function areOfRows(): boolean {
  return feed.recent.size === 0 && feed.isTooLong;
}

function sortsByDailyFiles(): boolean {
  return areOfRows() && feed.hasDailyFiles && CHANGE_SPANS.some((span) => span === view.sort);
}

/** @returns whether the rows have charts */
function showRows(rows: readonly LatestEntry[]): boolean {
  const hasCharts = view.hasCharts && columns === null && (feed.recent.size > 0 || areOfRows() || answeredMs === 0);
  // Until the first answer, the rows in the page's own file stay.
  if (answeredMs > 0)
    table.show(rows, feed.nowMs, hasCharts ? (areOfRows() ? rowPrices.recent : feed.recent) : null, columns);
  return hasCharts;
}

function lastPage(rows: number): number {
  return Math.max(0, Math.ceil(rows / ROWS_PER_PAGE) - 1) * ROWS_PER_PAGE;
}

function showNotices(): void {
  const { ageSeconds, isStale } = feed;
  const notes: { readonly text: string; readonly retry?: HTMLButtonElement }[] = [];
  if (problem !== null) {
    const rest =
      answeredMs === 0 ? 'No price can be shown yet.' : `The prices are those of ${momentText(instant(answeredMs))}.`;
    const text = `No connection: ${problem}. ${rest} The page asks again every ${POLL_SECONDS} seconds.`;
    notes.push({ text, retry: button('Ask now', () => askNow()) });
  } else if (isStale) {
    notes.push({
      text: `This is a copy, ${agoText(ageSeconds * 1000).replace(/ ago$/, '')} old: the service behind it does not answer.`,
    });
  }
  if (sortsByDailyFiles() && changes.state === 'failed') {
    const text = `The changes cannot be read: ${changes.problem}. The rows are sorted by name.`;
    notes.push({ text, retry: button('Read again', () => readChanges()) });
  }
  const notices = byId('notices');
  const shown = notes.map(({ text }) => text).join('\n');
  if (notices.dataset.shown === shown) return;
  notices.dataset.shown = shown;
  fill(
    notices,
    notes.map(({ text, retry }) => dom`<p class="notice">${text} ${retry ?? null}</p>`),
  );
}

function showFacts(): void {
  const { entries } = feed;
  if (answeredMs === 0) return;
  const { newest, currencies } = summaryOf(entries);
  const counts = `${many(entries.length, 'market')} in ${many(currencies, 'currency', 'currencies')}.`;
  fill(byId('facts'), [
    newest === null
      ? 'No price is known yet. '
      : [
          dom`<span>Newest price: <time datetime="${newest}" title="${momentText(newest)}">${dayText(newest)}</time></span>`,
          ` (${agoText(feed.nowMs - Date.parse(newest))}). `,
        ],
    problem === null
      ? `Page updated ${agoText(Date.now() - answeredMs)}. ${counts}`
      : `Last read at ${momentText(instant(answeredMs))}. ${counts}`,
  ]);
}

/** Computed once for the entries: counting 20,000 again for each letter would be slow. */
let summary = { of: feed.entries, newest: null as string | null, currencies: 0 };

function summaryOf(entries: readonly LatestEntry[]): typeof summary {
  if (summary.of === entries) return summary;
  const newest = entries.reduce<string | null>((last, entry) => {
    const own = newestKnownMoment(entry);
    return own === null ? last : laterInstant(own, last);
  }, null);
  summary = { of: entries, newest, currencies: countsBy(entries, 'currency').size };
  return summary;
}

/** Called after each part of the changes: only the text changes. */
function showProgress(): void {
  showWords(countText(selector.select(ordered(), view).length));
}

function readChanges(): void {
  changes.read();
  show();
}

function showWords(text: string): void {
  byId('count').textContent = text;
  window.clearTimeout(speaking);
  speaking = window.setTimeout(() => {
    const spoken = byId('spoken');
    if (spoken.textContent !== text) spoken.textContent = text;
  }, SPOKEN_AFTER_MS);
}

function showCount(selected: number): void {
  const { entries, hasMore, snapshot } = feed;
  showWords(countText(selected));

  const parts: (Node | string)[] = [];
  if (answeredMs === 0) parts.push(problem === null ? 'Reading the prices …' : '');
  else if (entries.length === 0) parts.push('No market is published yet.');
  else if (selected === 0) parts.push(noMatch());
  if (selected > ROWS_PER_PAGE) parts.push(pager(selected));
  if (hasMore) {
    const all = many(snapshot?.counts.markets ?? 0, 'market');
    parts.push(
      ` The first ${entries.length.toLocaleString('en')} of ${all} are read; search looks among them. `,
      dom`<a href="${addressOf(`${MARKETS_URL}.json`)}">The list has all of them, page by page.</a>`,
    );
  }
  const more = byId('more');
  const words = parts.map((part) => (typeof part === 'string' ? part : part.textContent)).join('');
  // A replaced button would lose the focus.
  if (more.textContent !== words) more.replaceChildren(...parts);
}

function noMatch(): HTMLElement {
  const text =
    view.text.trim() === '' ? 'No market has this kind and currency. ' : `No match for “${view.text.trim()}”. `;
  return dom`<p>${text}${button('Clear search', () => changeView({ text: '', kind: '', currency: '' }))}</p>`;
}

function pager(selected: number): HTMLElement {
  const last = lastPage(selected);
  const to = (name: string, row: number): HTMLButtonElement => {
    const made = button(name, () => {
      first = row;
      show();
      table.focusFirst();
    });
    made.disabled = row === first || row < 0 || row > last;
    return made;
  };
  const end = Math.min(first + ROWS_PER_PAGE, selected);
  const [from = '', until = '', all = ''] = [first + 1, end, selected].map((row) => row.toLocaleString('en'));
  return dom`<nav class="pager row" aria-label="Pages of the table">${to('First', 0)}${to('Previous', first - ROWS_PER_PAGE)}
<span class="number">${from}–${until} of ${all}</span>${to('Next', first + ROWS_PER_PAGE)}${to('Last', last)}</nav>`;
}

function countText(selected: number): string {
  const all = feed.entries.length;
  if (answeredMs === 0) return '';
  const count = `${selected === all ? '' : `${selected.toLocaleString('en')} of `}${many(all, 'market')}`;
  if (sortsByDailyFiles()) return `${count}. ${changesText()}`;
  return feed.isTooLong && !feed.hasDailyFiles ? `${count}. ${NOT_SORTED}` : count;
}

function changesText(): string {
  const { state, parts, partsRead, newestDay } = changes;
  if (state === 'read') return `Sorted by the last prices of each day, up to ${dayText(newestDay)}.`;
  return state === 'failed' ? '' : `Reading changes${parts === 0 ? '' : `: ${partsRead} of ${many(parts, 'part')}`} …`;
}

const instant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');

addEventListener('hashchange', () => {
  clearTimeout(writing);
  isTyping = false;
  view = parseView(location.hash) ?? view;
  first = 0;
  show();
});
show();
const askNow = pollWhileVisible(refresh, () => show());
