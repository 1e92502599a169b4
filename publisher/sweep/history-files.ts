/** Which files of histories are published, by the ledger's records. */
import { HISTORY_FILE_KINDS, type PublicObjectName } from '../../contract/public-objects.ts';
import type { ItemKey, Ledger } from '../../storage/ledger.ts';
import { readMany } from '../../storage/paging.ts';
import { type PublishedHeads, publishedHeadsKey, publishedYearKey } from '../../storage/records/publication.ts';

export type HistoryFileName = Extract<PublicObjectName, { kind: (typeof HISTORY_FILE_KINDS)[number] }>;

export interface FileObject {
  readonly key: string;
  readonly name: HistoryFileName;
}

export function isHistoryFile(name: PublicObjectName): name is HistoryFileName {
  return (HISTORY_FILE_KINDS as readonly string[]).includes(name.kind);
}

/** The keys of files that no record names: of markets that are not published, and of a kind that was switched off. */
export async function unpublishedFiles(ledger: Ledger, files: readonly FileObject[]): Promise<readonly string[]> {
  const keys = files.map(({ name }): ItemKey<unknown> => {
    return 'year' in name ? publishedYearKey(name.slug, name.year) : publishedHeadsKey(name.slug);
  });
  const records = await readMany(ledger, keys);
  return files.flatMap(({ key, name }, index) => {
    const record = records[index] ?? null;
    if (record === null) return [key];
    if ('year' in name) return [];
    const { files: published } = record.value as PublishedHeads;
    const isPublished = published !== undefined && (name.kind === 'history-index' || published.all !== null);
    return isPublished ? [] : [key];
  });
}
