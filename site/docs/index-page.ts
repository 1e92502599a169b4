/** `/docs/`: where to begin. */
import { OPENAPI_URL } from '../../contract/routes.ts';
import { html } from '../pages/html.ts';
import { page } from '../pages/layout.ts';

export function docsIndexPage(): string {
  return page({
    title: 'Documentation',
    description: 'Guides and the reference of the Tidemark API.',
    section: 'docs',
    width: 'text',
    main: html`<div class="prose"><h1>Documentation</h1>
<p>The <a href="${OPENAPI_URL}">OpenAPI document</a> describes every operation.</p></div>`,
  });
}
