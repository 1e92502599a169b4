/** Which files of histories are published, by the ledger's records. */
import { HISTORY_FORMATS } from '../../../contract/files/history-rows.ts';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import type { ItemKey, Ledger } from '../../../storage/ports/ledger.ts';
import { queryPages, readAll, readMany } from '../../../storage/ports/paging.ts';
import { MARKET_INDEX } from '../../../storage/records/markets.ts';
import {
  type PublishedFiles,
  type PublishedHeads,
  publishedHeadsKey,
  publishedYearKey,
  publishedYearsOf,
  yearOf,
} from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { OwnedObject, Reachability } from '../../kernel/projection.ts';
import { historyFileName } from './file-prefixes.ts';

/** Those that no record names: of markets that are not published, and of a kind that was switched off. */
async function unreachable({ ledger }: PublisherStorage, objects: readonly OwnedObject[]): Promise<readonly string[]> {
  const files = objects.flatMap(({ key, name }) => (name !== null && 'slug' in name ? [{ key, name }] : []));
  const records = await readMany(
    ledger,
    files.map(
      ({ name }): ItemKey<unknown> =>
        'year' in name ? publishedYearKey(name.slug, name.year) : publishedHeadsKey(name.slug),
    ),
  );
  const isPublished = (name: PublicObjectName, index: number): boolean => {
    const found = records[index]?.value;
    if ('year' in name) return found !== undefined;
    const { files: published } = (found ?? {}) as Partial<PublishedHeads>;
    return published !== undefined && (name.kind === 'history-index' || published.all !== null);
  };
  return files.flatMap(({ key, name }, index) => (isPublished(name, index) ? [] : [key]));
}

async function* published({ ledger }: PublisherStorage): AsyncGenerator<PublicObjectName> {
  for await (const items of queryPages(ledger, MARKET_INDEX)) {
    const slugs = items.map(({ sort }) => sort);
    for (const [index, heads] of (await readMany(ledger, slugs.map(publishedHeadsKey))).entries()) {
      if (heads?.value.files !== undefined) yield* filesOf(ledger, slugs[index] as string, heads.value.files);
    }
  }
}

async function* filesOf(ledger: Ledger, slug: string, { all }: PublishedFiles): AsyncGenerator<PublicObjectName> {
  const years = (await readAll(ledger, publishedYearsOf(slug))).map(yearOf);
  for (const year of all === null ? [] : [null, ...years]) {
    for (const format of HISTORY_FORMATS) yield historyFileName(slug, format, year);
  }
  yield { kind: 'history-index', slug };
}

export const reachableFiles: Reachability = { unreachable, published };
