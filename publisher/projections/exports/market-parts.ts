/** Makes the table of markets from the published list, whose pages belong to one generation. */
import { type ExportRow, MARKETS_TABLE } from '../../../contract/bodies/export-tables.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { ExportWriter } from './export-files.ts';
import { marketRows } from './market-rows.ts';
import { PartFile } from './part-file.ts';
import { SourceSummary } from './source-summary.ts';

/** Puts the parts of the table. Returns the sources of all markets. @param list the pages of the list */
export async function updateMarkets(
  list: AsyncIterable<readonly Market[]>,
  writer: ExportWriter,
  { yieldToEventLoop, partRows }: { readonly yieldToEventLoop: () => Promise<void>; readonly partRows: number },
): Promise<SourceSummary> {
  const before = await writer.readParts('markets');
  const sources = new SourceSummary();
  const begin = () => new PartFile(MARKETS_TABLE, yieldToEventLoop);
  let file = begin();
  let part = 0;
  const flush = async () => {
    await writer.writePart(MARKETS_TABLE, part, before[part] ?? null, { entries: 0, file });
    part++;
    file = begin();
  };
  for await (const markets of list) {
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
