/** The page of all markets: reads them, shows those that are asked for, and asks again while somebody looks. */
import { BASE_URL } from '../base-url.ts';
import { button, element } from '../market/elements.ts';
import { agoText, many, momentText } from '../market/words.ts';
import { POLL_SECONDS, pollWhileVisible } from '../poll.ts';
import {
  countsBy,
  type ListSort,
  type ListView,
  parseView,
  selectEntries,
  viewFragment,
  WHOLE_VIEW,
} from './list-view.ts';
import { MarketFeed } from './market-feed.ts';
import { MarketTable, ROWS_AT_ONCE } from './market-table.ts';
import { metricColumns } from './metric-columns.ts';
import { ViewControls } from './view-controls.ts';

/** The count is spoken once the typing has paused. */
const SPOKEN_AFTER_MS = 600;

const byId = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const tableElement = byId('markets') as HTMLTableElement;
const table = new MarketTable(tableElement, sortBy);
const controls = new ViewControls(changeView);
const feed = new MarketFeed();

let view = parseView(location.hash) ?? WHOLE_VIEW;
let rows = ROWS_AT_ONCE;
/** Why the last question failed. Null: it did not. */
let problem: string | null = null;
/** When the last answer came, by this computer's clock. 0: none has come. */
let answeredMs = 0;
let speaking: number | undefined;

function changeView(change: Partial<ListView>): void {
  view = { ...view, ...change };
  rows = ROWS_AT_ONCE;
  const fragment = viewFragment(view);
  history.replaceState(null, '', fragment === '' ? location.pathname : `#${fragment}`);
  show();
  if (change.hasCharts && feed.recent.size === 0) askNow();
}

function sortBy(sort: ListSort): void {
  // Rows with the most notes are the ones that are looked for.
  changeView({ sort, isDescending: sort === view.sort ? !view.isDescending : sort === 'notes' });
}

async function refresh(): Promise<void> {
  try {
    await feed.refresh(view.hasCharts);
    answeredMs = Date.now();
    problem = null;
  } catch (error) {
    problem = (error as Error).message;
  }
}

function show(): void {
  const { entries, nowMs } = feed;
  const selected = selectEntries(entries, view, nowMs);
  const columns = metricColumns(selected);
  const recent = view.hasCharts && columns === null && feed.recent.size > 0 ? feed.recent : null;
  table.show(selected.slice(0, rows), nowMs, recent, columns);
  table.showSort(view.sort, view.isDescending);
  controls.show(view, entries);
  showNotices();
  showFacts();
  showCount(selected.length);
  byId('explorer').dataset.ready = String(answeredMs > 0);
}

function showNotices(): void {
  const { nowMs, offsetMs, ageSeconds, isStale } = feed;
  const texts: string[] = [];
  if (problem !== null) {
    const rest =
      answeredMs === 0 ? 'No price can be shown yet.' : `The prices are those of ${momentText(instant(answeredMs))}.`;
    texts.push(`No connection: ${problem}. ${rest} The page asks again every ${POLL_SECONDS} seconds.`);
  } else if (isStale) {
    texts.push(
      `This is a copy, ${agoText(ageSeconds * 1000).replace(/ ago$/, '')} old: the service behind it does not answer.`,
    );
  }
  if (offsetMs !== 0) {
    const by = agoText(Math.abs(offsetMs)).replace(/ ago$/, '');
    const side = offsetMs > 0 ? 'ahead of' : 'behind';
    texts.push(
      `The clock of this computer is ${by} ${side} that of the service. Ages follow the service: it is ${momentText(instant(nowMs))} there.`,
    );
  }
  const notices = byId('notices');
  if (notices.dataset.shown === texts.join('\n')) return;
  notices.dataset.shown = texts.join('\n');
  notices.replaceChildren(
    ...texts.map((text, index) =>
      element(
        'p',
        { class: 'notice' },
        text,
        ...(problem !== null && index === 0 ? [' ', button('Ask now', () => askNow())] : []),
      ),
    ),
  );
}

function showFacts(): void {
  const { snapshot, entries, nowMs } = feed;
  if (snapshot === null) return;
  const { counts, generation, publishedAt } = snapshot;
  byId('facts').replaceChildren(
    `${many(counts.markets, 'market')} of ${many(countsBy(entries, 'kind').size, 'kind')} in `,
    `${many(countsBy(entries, 'currency').size, 'currency', 'currencies')}. `,
    `Generation ${generation.toLocaleString('en')}, published `,
    element(
      'time',
      { datetime: publishedAt, title: momentText(publishedAt) },
      agoText(nowMs - Date.parse(publishedAt)),
    ),
    problem === null
      ? `. Checked ${agoText(Date.now() - answeredMs)}.`
      : `. Last read at ${momentText(instant(answeredMs))}.`,
  );
}

function showCount(selected: number): void {
  const { entries, hasMore, snapshot } = feed;
  const text = countText(selected);
  byId('count').textContent = text;
  window.clearTimeout(speaking);
  speaking = window.setTimeout(() => {
    const spoken = byId('spoken');
    if (spoken.textContent !== text) spoken.textContent = text;
  }, SPOKEN_AFTER_MS);

  const left = selected - rows;
  const parts: (Node | string)[] = [];
  if (answeredMs === 0) parts.push(problem === null ? 'Reading the prices …' : '');
  else if (entries.length === 0) parts.push('No market is published yet.');
  else if (selected === 0) parts.push('No market matches. Try fewer letters, or another kind or currency.');
  if (left > 0) {
    parts.push(
      `Rows 1–${rows.toLocaleString('en')} of ${selected.toLocaleString('en')}. `,
      button(`Show ${Math.min(left, ROWS_AT_ONCE)} more`, () => {
        const first = rows;
        rows += ROWS_AT_ONCE;
        show();
        table.focusRow(first);
      }),
    );
  }
  if (hasMore) {
    parts.push(
      ` Of ${(snapshot?.counts.markets ?? 0).toLocaleString('en')} markets, the first ${entries.length.toLocaleString('en')} are read: filters look among them. `,
      button('Read more markets', () => void readMore()),
    );
  }
  const more = byId('more');
  const words = parts.map((part) => (typeof part === 'string' ? part : part.textContent)).join('');
  // A button that is made again would lose the focus.
  if (more.textContent !== words) more.replaceChildren(...parts);
}

function countText(selected: number): string {
  const all = feed.entries.length;
  if (answeredMs === 0) return '';
  return `${selected === all ? '' : `${selected.toLocaleString('en')} of `}${many(all, 'market')}`;
}

async function readMore(): Promise<void> {
  try {
    await feed.readMore();
  } catch (error) {
    problem = (error as Error).message;
  }
  show();
}

const instant = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');

byId('poll-command').textContent = byId('poll-command').textContent?.replace('$ORIGIN/', BASE_URL.href) ?? '';
byId('explorer').hidden = false;
addEventListener('hashchange', () => {
  view = parseView(location.hash) ?? view;
  rows = ROWS_AT_ONCE;
  show();
});
show();
const askNow = pollWhileVisible(refresh, show);
