/** The pages for people, as they were built for a deployment: about a hundred files. */

import { READ_HOST, WRITE_HOST } from '../contract/files/example-hosts.ts';
import { NOT_FOUND_PAGE } from '../contract/files/object-paths.ts';
import { OPERATOR_PLACE, operatorHtml } from '../contract/files/operator-html.ts';
import type { PublicObjectName } from '../contract/files/public-object-names.ts';
import { PUBLIC_PREFIX, parsePublicKey } from '../contract/files/public-objects.ts';
import { escapedHtml } from '../contract/values/html-text.ts';
import type { Operator } from '../contract/values/operator.ts';
import { sha256Hex } from '../storage/ports/sha256.ts';
import type { PublishedSite } from '../storage/records/publication.ts';

/** In which a file of the site is a text. */
export const siteEncoding = (file: string): 'base64' | 'utf8' => (file.endsWith('.png') ? 'base64' : 'utf8');

/** The built site of a deployment. */
export interface Site {
  /** Of the names and the contents of all files. */
  readonly digest: string;
  readonly files: Readonly<PublishedSite>;
  /** The text of one of the files; of a picture in base64. */
  readonly read: (file: string) => Promise<string>;
}

/** @throws RangeError for a file that is of no kind of public object */
export function siteOf(texts: ReadonlyMap<string, string>): Site {
  const files = Object.fromEntries([...texts].map(([file, text]) => [file, sha256Hex(text)]));
  for (const file of texts.keys()) siteObject(file);
  return { digest: digestOf(files), files, read: async (file) => texts.get(file) as string };
}

/** The same pages, which say who operates the service. A digest names what a page was made of. */
export function withOperator(site: Site, operator: Operator): Site {
  const said = operatorHtml(operator);
  if (said === '') return site;
  const files = Object.fromEntries(
    Object.entries(site.files).map(([file, digest]) => [file, isPage(file) ? sha256Hex(`${digest} ${said}`) : digest]),
  );
  const read = async (file: string): Promise<string> => {
    const text = await site.read(file);
    return isPage(file) ? text.replaceAll(OPERATOR_PLACE, () => said) : text;
  };
  return { digest: digestOf(files), files, read };
}

const DOCS_INDEX = 'docs/index.html';
const ASKING = /<div><dt>You want to write<\/dt>.*?<\/div>/s;

/** The same pages without the section on keys, for a service that issues none. */
export function withoutKeys(site: Site): Site {
  const digest = site.files[DOCS_INDEX];
  if (digest === undefined) return site;
  const files = { ...site.files, [DOCS_INDEX]: sha256Hex(`${digest} no keys`) };
  const read = async (file: string): Promise<string> => {
    const text = await site.read(file);
    return file === DOCS_INDEX ? text.replace(ASKING, '') : text;
  };
  return { digest: digestOf(files), files, read };
}

/** The same pages below the base path of readers. Only the one that hosts send from any depth has links from the root. */
export function withBasePath(site: Site, readBaseUrl: string | null): Site {
  const path = readBaseUrl === null ? '' : new URL(readBaseUrl).pathname.replace(/\/$/, '');
  const file = NOT_FOUND_PAGE.slice(1);
  const digest = site.files[file];
  if (path === '' || digest === undefined) return site;
  const files = { ...site.files, [file]: sha256Hex(`${digest} ${path}`) };
  const read = async (name: string): Promise<string> => {
    const text = await site.read(name);
    return name === file ? text.replaceAll(/ (href|src)="(?=\/)/g, (start) => start + escapedHtml(path)) : text;
  };
  return { digest: digestOf(files), files, read };
}

/**
 * The same documentation with the base URLs of the service in its commands.
 *
 * @param read null: not known, so the script of a page fills them in
 */
export function withHosts(site: Site, read: string | null, write: string | null): Site {
  if (read === null || write === null) return site;
  const hosts = [read, write].map((url) => escapedHtml(url.replace(/\/$/, ''))) as [string, string];
  const files = Object.fromEntries(
    Object.entries(site.files).map(([file, digest]) => [
      file,
      isDocument(file) ? sha256Hex(`${digest} ${hosts.join(' ')}`) : digest,
    ]),
  );
  const textOf = async (file: string): Promise<string> => {
    const text = await site.read(file);
    if (!isDocument(file)) return text;
    return text.replaceAll(WRITE_HOST, () => hosts[1]).replaceAll(READ_HOST, () => hosts[0]);
  };
  return { digest: digestOf(files), files, read: textOf };
}

const isDocument = (file: string): boolean => file.startsWith('docs/') && isPage(file);
const isPage = (file: string): boolean => file.endsWith('.html');

function digestOf(files: Readonly<PublishedSite>): string {
  const lines = Object.keys(files)
    .sort()
    .map((file) => `${file} ${files[file]}\n`);
  return sha256Hex(lines.join(''));
}

/** @throws RangeError for a file that is of no kind of public object */
export function siteObject(file: string): PublicObjectName {
  const name = parsePublicKey(`${PUBLIC_PREFIX}/${file}`);
  if (name !== null && 'file' in name && name.file === file) return name;
  throw new RangeError(
    `${file} can be no file of the site: see the names and endings in contract/files/public-objects.ts`,
  );
}
