/** Which files of histories are published, by the ledger's records. */
import { HISTORY_FILE_KINDS, type PublicObjectName } from '../../../contract/public-object-names.ts';
import type { Ledger } from '../../../storage/ledger.ts';
import { readMany } from '../../../storage/paging.ts';
import { publishedHeadsKey, publishedYearKey } from '../../../storage/records/publication.ts';

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
  const ofYears = files.flatMap(({ key, name }) => ('year' in name ? [{ key, name }] : []));
  const ofAll = files.filter(({ name }) => !('year' in name));
  const years = await readMany(
    ledger,
    ofYears.map(({ name }) => publishedYearKey(name.slug, name.year)),
  );
  const heads = await readMany(
    ledger,
    ofAll.map(({ name }) => publishedHeadsKey(name.slug)),
  );
  const isPublished = ({ name }: FileObject, index: number): boolean => {
    const published = heads[index]?.value.files;
    return published !== undefined && (name.kind === 'history-index' || published.all !== null);
  };
  return [
    ...ofYears.filter((_, index) => years[index] === null),
    ...ofAll.filter((file, index) => !isPublished(file, index)),
  ].map(({ key }) => key);
}
