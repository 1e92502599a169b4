/** Makes the table of markets from the published list, which is one generation as a whole. */
import pMap from 'p-map';
import { type ExportRow, MARKETS_TABLE } from '../../contract/export-tables.ts';
import type { Market } from '../../contract/market.ts';
import type { PublicObjectName } from '../../contract/public-object-names.ts';
import { publicKey } from '../../contract/public-objects.ts';
import { bodyDigest } from '../../storage/object-rules.ts';
import { readAll } from '../../storage/paging.ts';
import { exportPartsOf } from '../../storage/records/exports.ts';
import type { ListState } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { readLayout } from '../plan/list-layout.ts';
import type { ExportWriter } from './export-files.ts';
import { marketRows } from './market-rows.ts';
import { PartFile } from './part-file.ts';
import { SourceSummary } from './source-summary.ts';

const PAGES_AT_ONCE = 8;

/**
 * Puts the parts of the table, and gives the sources of all markets.
 *
 * @throws Superseded if a newer list is published meanwhile
 */
export async function updateMarkets(
  storage: PublisherStorage,
  list: ListState,
  writer: ExportWriter,
  { breathe, partRows }: { readonly breathe: () => Promise<void>; readonly partRows: number },
): Promise<SourceSummary> {
  const before = await readAll(storage.ledger, exportPartsOf('markets'));
  const sources = new SourceSummary();
  const begin = () => new PartFile(MARKETS_TABLE, breathe);
  let file = begin();
  let part = 0;
  const flush = async () => {
    await writer.writePart(MARKETS_TABLE, part, before[part] ?? null, { entries: 0, file });
    part++;
    file = begin();
  };
  for await (const markets of pagesOf(storage, list)) {
    let rows: ExportRow[] = [];
    for (const market of markets) {
      sources.add(market);
      const added = marketRows(market);
      if (file.rows + rows.length + added.length > partRows) {
        await file.add(rows);
        await flush();
        rows = [];
      }
      rows.push(...added);
    }
    await file.add(rows);
  }
  await flush();
  for (const left of before.slice(part).reverse()) await writer.forgetPart(left);
  return sources;
}

async function* pagesOf({ objects }: PublisherStorage, list: ListState): AsyncGenerator<readonly Market[]> {
  const layout = await readLayout(objects, list);
  const digest = list.digest;
  if (layout === null || digest === null) throw new Superseded('the published list is not known');
  const read = async (name: PublicObjectName, expected: string): Promise<readonly Market[]> => {
    const found = await objects.get(publicKey(name));
    // The first page is the only one that changes.
    if (found.kind !== 'found' || bodyDigest(found.body) !== expected) throw new Superseded('the list has changed');
    return (JSON.parse(Buffer.from(found.body).toString('utf8')) as { data: Market[] }).data;
  };
  yield await read({ kind: 'market-list' }, digest);
  for (let start = 0; start < layout.pages.length; start += PAGES_AT_ONCE) {
    const some = layout.pages.slice(start, start + PAGES_AT_ONCE);
    yield* await pMap(some, (page) => read({ kind: 'market-list-page', cursor: page.cursor }, page.digest));
  }
}
