/**
 * The files of a deployment as Cloudflare documents them for Pages: a page has its URL without the ending, a folder ends with a
 * slash, the 404.html at the root stands for all that is missing, and an entity tag gives 304.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { PagesEnvironment } from '../../infra/hosting/cloudflare/worker.ts';

/** Others have none. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.css': 'text/css; charset=utf-8',
};

export function pagesFiles(folder: string): PagesEnvironment['ASSETS'] {
  return {
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('.html')) {
        return new Response(null, { status: 308, headers: { location: pathname.replace(/(index)?\.html$/, '') } });
      }
      for (const name of pathname.endsWith('/') ? [`${pathname}index.html`] : [pathname, `${pathname}.html`]) {
        const body = await readFile(join(folder, name)).catch(() => null);
        if (body === null) continue;
        const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 32)}"`;
        const type = TYPES[extname(name)];
        const headers = { etag, ...(type === undefined ? {} : { 'content-type': type }) };
        const known = request.headers.get('if-none-match');
        if (known !== null && (known === '*' || known.includes(etag))) {
          return new Response(null, { status: 304, headers });
        }
        return new Response(request.method === 'HEAD' ? null : body, { headers });
      }
      return new Response('<h1>Not found</h1>', { status: 404, headers: { 'content-type': TYPES['.html'] as string } });
    },
  };
}
