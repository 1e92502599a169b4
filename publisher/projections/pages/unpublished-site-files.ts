/** Which files of the pages for people are published, by the ledger's record. */
import { type PublicObjectName, SITE_KINDS, type SiteKind } from '../../../contract/public-object-names.ts';
import type { Ledger } from '../../../storage/ledger.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';

export interface SiteObject {
  readonly key: string;
  readonly name: Extract<PublicObjectName, { kind: SiteKind }>;
}

export function isSiteFile(name: PublicObjectName): name is SiteObject['name'] {
  return (SITE_KINDS as readonly string[]).includes(name.kind);
}

/** The keys of files that the last published site does not have. None, if no site was published. */
export async function unpublishedSiteFiles(ledger: Ledger, files: readonly SiteObject[]): Promise<readonly string[]> {
  if (files.length === 0) return [];
  const site = await ledger.get(PUBLISHED_SITE_KEY);
  return files.filter(({ name }) => site !== null && !Object.hasOwn(site.value, name.file)).map(({ key }) => key);
}
