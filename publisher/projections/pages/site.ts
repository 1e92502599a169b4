/**
 * The pages for people: about a hundred files, which change with a deployment. HEAD has one digest of all of them. Their
 * bodies are read only if it differs, and only those are put that the last publication did not have.
 */

import { SITE_ROOT } from '../../../contract/object-paths.ts';
import type { PublicObjectName } from '../../../contract/public-object-names.ts';
import { PUBLIC_PREFIX, parsePublicKey, publicKey } from '../../../contract/public-objects.ts';
import type { Ledger } from '../../../storage/ledger.ts';
import { PUBLISHED_SITE_KEY, type PublishedSite } from '../../../storage/records/publication.ts';
import { sha256Hex } from '../../../storage/sha256.ts';
import type { BundleWriter } from '../../kernel/bundle.ts';

/** The built site of a deployment. */
export interface Site {
  /** Of the names and the contents of all files. */
  readonly digest: string;
  readonly files: Readonly<PublishedSite>;
  /** The text of one of the files. */
  readonly read: (file: string) => Promise<string>;
}

/** @throws RangeError for a file that is of no kind of public object */
export function siteOf(texts: ReadonlyMap<string, string>): Site {
  const files = Object.fromEntries([...texts].map(([file, text]) => [file, sha256Hex(text)]));
  for (const file of texts.keys()) siteObject(file);
  const lines = Object.keys(files)
    .sort()
    .map((file) => `${file} ${files[file]}\n`);
  return { digest: sha256Hex(lines.join('')), files, read: async (file) => texts.get(file) as string };
}

/** @throws RangeError for a file that is of no kind of public object */
export function siteObject(file: string): PublicObjectName {
  const name = parsePublicKey(`${PUBLIC_PREFIX}${SITE_ROOT}/${file}`);
  if (name !== null) return name;
  throw new RangeError(`${file} can be no file of the site: see the names and endings in contract/public-objects.ts`);
}

/**
 * Adds the files that have changed, and the record of all of them. A file that the site no longer has is left to the sweep.
 *
 * @param isKnown whether the record says what is public; otherwise everything is put
 */
export async function addChangedSite(
  ledger: Ledger,
  site: Site,
  bundle: BundleWriter,
  isKnown: boolean,
): Promise<void> {
  const published = isKnown ? ((await ledger.get(PUBLISHED_SITE_KEY))?.value ?? {}) : {};
  for (const [file, digest] of Object.entries(site.files)) {
    if (published[file] === digest) continue;
    const key = publicKey(siteObject(file));
    await bundle.add({ kind: 'put', key, body: await site.read(file), nextCursor: null });
  }
  await bundle.add({ kind: 'record', key: PUBLISHED_SITE_KEY, value: { ...site.files } });
}
