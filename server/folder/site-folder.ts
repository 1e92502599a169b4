/** The pages for people, as `npm run build:site` has built them. */
import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Site, siteEncoding, siteOf } from '../../publisher/site.ts';
import { StartError } from '../service/start-error.ts';

const BUILT_SITE = fileURLToPath(new URL('../../clients/web/built/', import.meta.url));

/**
 * Reads all pages into memory, about a megabyte: so a later change of the files cannot be published in part.
 *
 * @throws StartError if the pages are not built
 */
export async function readSite(): Promise<Site> {
  const entries = await readdir(BUILT_SITE, { recursive: true, withFileTypes: true }).catch(
    (cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new StartError(`The pages are not built: ${BUILT_SITE} is missing. Run \`npm run build:site\`.`, { cause });
    },
  );
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const paths = files.map((file) => file.slice(join(BUILT_SITE, sep).length).replaceAll(sep, '/')).sort();
  const texts = new Map<string, string>();
  // One after the other: all at once, they need more descriptors than a process with a low limit has.
  for (const path of paths) texts.set(path, await readFile(join(BUILT_SITE, path), siteEncoding(path)));
  return siteOf(texts);
}
