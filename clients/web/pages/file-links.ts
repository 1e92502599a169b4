/**
 * In their sources, pages have links from the root of a host, as readers type them. In a built file, each link leads to a file,
 * relative to its own. So the site works below any path, and on hosts that neither add extensions nor know folders. A base path
 * as a setting would differ in each mirror, and our Content-Security-Policy forbids `<base>`. Pure.
 */
import { posix } from 'node:path';
import { NOT_FOUND_FILE } from './not-found.ts';

/** @param files the paths of all pages in the built site */
export function withFileLinks(file: string, text: string, files: ReadonlySet<string>): string {
  const link = (url: string): string => {
    const [path = '', ...rest] = url.slice(1).split(/(?=#)/);
    const target = fileOf(path, files);
    // This page is served at any depth, so its links begin at the root: the publisher adds the base path.
    const link = file === NOT_FOUND_FILE ? `/${target}` : posix.relative(posix.dirname(file), target);
    return link + rest.join('');
  };
  const pattern = file.endsWith('.html') ? /( (?:href|src)=")(\/[^"]*)/g : /(\]\()(\/[^)]*)/g;
  return text.replaceAll(pattern, (_, before: string, url: string) => before + link(url));
}

/** Every other URL without an extension belongs to the API. */
function fileOf(path: string, files: ReadonlySet<string>): string {
  if (posix.extname(path) !== '') return path;
  const folder = path === '' || path.endsWith('/') ? path : `${path}/`;
  return [`${folder}index.html`, `${path}.html`].find((page) => files.has(page)) ?? `${path}.json`;
}
