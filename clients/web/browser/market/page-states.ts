/** What the page says instead of a market: removed, unknown, or not reachable. */
import { addressOf, marketAddress } from '../base-url.ts';
import { timeOf } from '../history/reading-words.ts';
import { button, element, facts, timeElement } from './elements.ts';

/** @param problem the document of the 410 */
export function removedState(slug: string, problem: Readonly<Record<string, unknown>>): HTMLElement {
  const { reason, replacedBy, removedAt, code } = problem;
  const isRemoval = code === 'market-removed';
  return state(
    isRemoval ? 'This market was removed' : 'This market is gone',
    element('p', { class: 'code' }, slug),
    facts([
      typeof removedAt === 'string' && !Number.isNaN(Date.parse(removedAt))
        ? ['Removed', timeElement(removedAt)]
        : null,
      ['Reason', typeof reason === 'string' ? reason : 'not given'],
      [
        'Replaced by',
        typeof replacedBy === 'string'
          ? element('a', { href: marketAddress(replacedBy) }, replacedBy)
          : 'no other market',
      ],
    ]),
    code === 'taken-down' ? element('p', {}, 'Its texts were taken down for a legal reason.') : null,
    allMarkets(),
  );
}

export function unknownState(slug: string): HTMLElement {
  return state(
    'There is no such market',
    element('p', {}, 'No market has the name ', element('span', { class: 'code' }, slug), '.'),
    allMarkets(),
  );
}

export function unreachableState(reason: string, onRetry: () => void): HTMLElement {
  return state(
    'The service cannot be reached',
    element('p', { class: 'notice', role: 'alert' }, `Nothing can be shown: ${reason}. The page will try again.`),
    button('Try again', onRetry),
  );
}

function allMarkets(): HTMLElement {
  return element('p', {}, element('a', { href: addressOf('/index.html') }, 'All markets'));
}

function state(title: string, ...children: (Node | null)[]): HTMLElement {
  return element('div', { class: 'page-state' }, element('h1', {}, title), ...children);
}

/** @param reason why the service cannot be reached. @param readAtMs since the epoch; 0: the page shows what is in its file */
export function staleNotice(reason: string, readAtMs: number, retry: () => void): HTMLElement {
  const shows = readAtMs === 0 ? 'what it was made of' : `what it read at ${timeOf(readAtMs)}`;
  const words = `The service cannot be reached: ${reason}. This page shows ${shows}, and tries again by itself.`;
  return element('div', { class: 'notice stale' }, element('p', {}, words), button('Try again', retry));
}
