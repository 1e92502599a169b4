/** Decides which files of histories are published, by the ledger's records. */
import { HISTORY_FORMATS } from '../../../contract/bodies/history-rows.ts';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import { queryPages, readAll, readMany } from '../../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../../storage/records/markets.ts';
import {
  type PublishedFiles,
  publishedHeadsKey,
  publishedYearKey,
  publishedYearsOf,
  yearOf,
} from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { OwnedObject, Reachability } from '../../kernel/projection.ts';
import { historyFileName } from './file-prefixes.ts';

/** Files that no record names: of unpublished markets, or of a kind that was switched off. */
async function unreachable({ ledger }: PublisherStorage, objects: readonly OwnedObject[]): Promise<readonly string[]> {
  const files = objects.flatMap(({ key, name }) => (name !== null && 'slug' in name ? [{ key, name }] : []));
  const heads = await readMany(
    ledger,
    files.map(({ name }) => publishedHeadsKey(name.slug)),
  );
  const years = files.flatMap(({ key, name }) =>
    'year' in name ? [{ key, record: publishedYearKey(name.slug, name.year) }] : [],
  );
  const recorded = await readMany(
    ledger,
    years.map(({ record }) => record),
  );
  const recordedYears = new Set(years.filter((_, index) => recorded[index] !== null).map(({ key }) => key));
  return files.flatMap(({ key, name }, index) => {
    const published = heads[index]?.value.files;
    const isThere = 'year' in name || name.kind === 'history-index' ? published?.index != null : published?.all != null;
    return isThere && (!('year' in name) || recordedYears.has(key)) ? [] : [key];
  });
}

async function* published({ ledger }: PublisherStorage): AsyncGenerator<PublicObjectName> {
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    const slugs = items.map(({ sort }) => sort);
    for (const [index, heads] of (await readMany(ledger, slugs.map(publishedHeadsKey))).entries()) {
      const files = heads?.value.files;
      if (files !== undefined) yield* namesOf(ledger, slugs[index] as string, files);
    }
  }
}

async function* namesOf(
  ledger: Ledger,
  slug: string,
  { all, index }: PublishedFiles,
): AsyncGenerator<PublicObjectName> {
  const years = index === null ? [] : (await readAll(ledger, publishedYearsOf(slug))).map(yearOf);
  for (const year of [...(all === null ? [] : [null]), ...years]) {
    for (const format of HISTORY_FORMATS) yield historyFileName(slug, format, year);
  }
  if (index !== null) yield { kind: 'history-index', slug };
}

export const reachableFiles: Reachability = { unreachable, published };
