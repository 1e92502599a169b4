/** The pages instead of a market: removed, unknown, or not reachable. */
import { addressOf, marketAddress } from '../base-url.ts';
import { timeOf } from '../history/reading-words.ts';
import { button, dom, facts, type Slot, timeElement } from './elements.ts';

/** @param problem the document of the 410 */
export function removedState(slug: string, problem: Readonly<Record<string, unknown>>): HTMLElement {
  const { reason, replacedBy, removedAt, code } = problem;
  const isRemoval = code === 'market-removed';
  const isMoment = typeof removedAt === 'string' && !Number.isNaN(Date.parse(removedAt));
  const another =
    typeof replacedBy === 'string' ? dom`<a href="${marketAddress(replacedBy)}">${replacedBy}</a>` : 'no other market';
  return state(
    isRemoval ? 'This market was removed' : 'This market is gone',
    dom`<p class="code">${slug}</p>`,
    facts([
      isMoment ? ['Removed', timeElement(removedAt)] : null,
      ['Reason', typeof reason === 'string' ? reason : 'not given'],
      ['Replaced by', another],
    ]),
    code === 'taken-down' ? dom`<p>Its texts were taken down for a legal reason.</p>` : null,
    allMarkets(),
  );
}

export function unknownState(slug: string): HTMLElement {
  const words = dom`<p>No market has the name <span class="code">${slug}</span>.</p>`;
  return state('There is no such market', words, allMarkets());
}

export function unreachableState(reason: string, onRetry: () => void): HTMLElement {
  return state(
    'The service cannot be reached',
    dom`<p class="notice">Nothing can be shown: ${reason}. The page will try again.</p>`,
    button('Try again', onRetry),
  );
}

function allMarkets(): HTMLElement {
  return dom`<p><a href="${addressOf('/index.html')}">All markets</a></p>`;
}

/** An alert: it may replace a page that somebody reads. */
function state(title: string, ...children: Slot[]): HTMLElement {
  return dom`<div class="page-state" role="alert"><h1>${title}</h1>${children}</div>`;
}

/** @param reason why the service cannot be reached. @param readAtMs since the epoch; 0: the page shows the values in its file */
export function staleNotice(reason: string, readAtMs: number, retry: () => void): HTMLElement {
  const shows = readAtMs === 0 ? 'what it was made of' : `what it read at ${timeOf(readAtMs)}`;
  const words = `The service cannot be reached: ${reason}. This page shows ${shows}, and tries again by itself.`;
  return dom`<div class="notice stale row apart"><p>${words}</p>${button('Try again', retry)}</div>`;
}
