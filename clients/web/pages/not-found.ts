/** The page for browsers at a missing address. Hosts send it at any depth. */
import { NOT_FOUND_PAGE } from '../../../contract/files/object-paths.ts';
import { html } from '../../../contract/html/html.ts';
import { page } from './layout.ts';

export const NOT_FOUND_FILE = NOT_FOUND_PAGE.slice(1);

export function notFoundPage(): string {
  return page({
    title: 'Not found',
    description: 'There is no such page.',
    section: null,
    main: html`<div class="page-state"><h1>Not found</h1>
<p class="soft">There is no page at this address. The market may have another name, or was never here.</p>
<p><a href="/">All markets</a> · <a href="/docs/">Docs</a> · <a href="/status/">Status</a></p></div>`,
  });
}
