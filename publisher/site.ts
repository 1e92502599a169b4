/** The pages for people, as they were built for a deployment: about a hundred files. */

import { READ_HOST, WRITE_HOST } from '../contract/files/example-hosts.ts';
import { NOT_FOUND_PAGE } from '../contract/files/object-paths.ts';
import { OPERATOR_PLACE, operatorHtml } from '../contract/files/operator-html.ts';
import { PUBLIC_PREFIX, type PublicObjectName, parsePublicKey } from '../contract/files/public-objects.ts';
import { escapedHtml } from '../contract/html/html-text.ts';
import type { Operator } from '../contract/values/operator.ts';
import { sha256Hex } from '../storage/ports/sha256.ts';
import type { PublishedSite } from '../storage/records/publication.ts';

/** The encoding of a file's text. */
export const siteEncoding = (file: string): 'base64' | 'utf8' => (file.endsWith('.png') ? 'base64' : 'utf8');

/** The built site of a deployment. */
export interface Site {
  /** A digest of the names and contents of all files. */
  readonly digest: string;
  readonly files: Readonly<PublishedSite>;
  /** The text of one of the files; a picture is in base64. */
  readonly read: (file: string) => Promise<string>;
}

/** @throws RangeError for a file that matches no kind of public object */
export function siteOf(texts: ReadonlyMap<string, string>): Site {
  const files = Object.fromEntries([...texts].map(([file, text]) => [file, sha256Hex(text)]));
  for (const file of texts.keys()) siteObject(file);
  return { digest: digestOf(files), files, read: async (file) => texts.get(file) as string };
}

/**
 * The same site with other texts in some files. Their digest follows from the old digest and from `said`.
 *
 * @param said the value that the new texts depend on. Empty: nothing is changed
 */
function edited(
  site: Site,
  said: string,
  isEdited: (file: string) => boolean,
  edit: (text: string, file: string) => string,
): Site {
  if (said === '') return site;
  const digests = Object.entries(site.files).map(([file, digest]) => {
    return [file, isEdited(file) ? sha256Hex(`${digest} ${said}`) : digest];
  });
  const files = Object.fromEntries(digests);
  const read = async (file: string) => (isEdited(file) ? edit(await site.read(file), file) : await site.read(file));
  return { digest: digestOf(files), files, read };
}

/** The same pages, with the name of the operator. */
export function withOperator(site: Site, operator: Operator): Site {
  const said = operatorHtml(operator);
  return edited(site, said, isPage, (text) => text.replaceAll(OPERATOR_PLACE, () => said));
}

const ASKING = /<li><strong>You want to write\.<\/strong>.*?<\/li>\n?/s;

const NO_WRITES =
  '<p><strong>This service takes no writes.</strong> It is made of files, and its operator publishes them. So nobody needs a ' +
  'key here: these pages describe services that have one.</p>';
/** The pages about keys, credentials and writes. */
const ON_WRITES = /^docs\/(guides\/(corrections|idempotency|keys)|reference\/(?!public-reads|schemas)[^/]+)\.html$/;

const WRITES_OF_LLMS = /^- Writes go to .*$/m;

/** The same pages for a service without a write API: those about writes say so, and no other offers a key. */
export function withoutWrites(site: Site): Site {
  return edited(
    site,
    NO_WRITES,
    (file) => file === 'docs/index.html' || file === 'llms.txt' || ON_WRITES.test(file),
    (text, file) => {
      if (ON_WRITES.test(file)) return text.replace('</h1>', `</h1>${NO_WRITES}`);
      return text.replace(ASKING, '').replace(WRITES_OF_LLMS, '- This service takes no writes.');
    },
  );
}

/** The same pages below the base path of readers. Only the page that hosts serve at any depth has links from the root. */
export function withBasePath(site: Site, readBaseUrl: string | null): Site {
  const path = readBaseUrl === null ? '' : new URL(readBaseUrl).pathname.replace(/\/$/, '');
  const linked = (text: string) => text.replaceAll(/ (href|src)="(?=\/)/g, (start) => start + escapedHtml(path));
  return edited(site, path, (file) => `/${file}` === NOT_FOUND_PAGE, linked);
}

/**
 * The same documentation with the service's base URLs in its commands.
 *
 * @param read null: unknown, so the script of a page fills them in
 */
export function withHosts(site: Site, read: string | null, write: string | null): Site {
  if (read === null || write === null) return site;
  const [reading, writing] = [read, write].map((url) => escapedHtml(url.replace(/\/$/, ''))) as [string, string];
  return edited(
    site,
    `${reading} ${writing}`,
    (file) => file.startsWith('docs/') && isPage(file),
    (text) => text.replaceAll(WRITE_HOST, () => writing).replaceAll(READ_HOST, () => reading),
  );
}

const isPage = (file: string): boolean => file.endsWith('.html');

function digestOf(files: Readonly<PublishedSite>): string {
  const lines = Object.keys(files)
    .sort()
    .map((file) => `${file} ${files[file]}\n`);
  return sha256Hex(lines.join(''));
}

/** @throws RangeError for a file that matches no kind of public object */
export function siteObject(file: string): PublicObjectName {
  const name = parsePublicKey(`${PUBLIC_PREFIX}/${file}`);
  if (name !== null && 'file' in name && name.file === file) return name;
  throw new RangeError(
    `${file} can be no file of the site: see the names and endings in contract/files/public-objects.ts`,
  );
}
