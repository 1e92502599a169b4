/** Tells apart the two hours of autumn that the clocks show alike, by the order of a file's rows. */
import type { CsvFault, CsvRow } from '../input/csv-rows.ts';
import { columnsOf } from '../values/template.ts';
import { type CsvMapping, columnsOfDate } from './csv-mapping.ts';
import { momentsReader, readerOf } from './map-date.ts';

/** The last rows of one market. */
interface Market {
  /** The moment of its last row outside the repeated hour. */
  before: number | null;
  /** Rows since then, whose times occur twice. */
  run: { readonly row: CsvRow; readonly moments: readonly number[] }[];
}

/** More rows are not kept: then a time without its second row stays undecided. */
const HELD_MAX = 100_000;

/**
 * Sets `meantMs` of the rows whose time occurs twice. A time stays undecided, and its rows are refused, unless it stands in
 * exactly two rows of its market, and these rows and those around them are in the order of time, oldest or newest first. Rows
 * are kept until the next time of their market that occurs once.
 */
export async function* bothHours(
  { match, tables, observation: { date } }: CsvMapping,
  rows: AsyncIterable<CsvRow | CsvFault>,
): AsyncGenerator<CsvRow | CsvFault> {
  // Rows that a table may divide into several markets are compared only with their like.
  const names = [...match, ...tables.flatMap(({ key }) => columnsOf(key))];
  const { read } = readerOf(date.format);
  const momentsOf = momentsReader(date);
  const markets = new Map<string, Market>();
  const open = new Set<Market>();
  let held: (CsvRow | CsvFault)[] = [];
  let header: readonly string[] = [];
  for await (const row of rows) {
    held.push(row);
    if (row.kind === 'header') header = row.fields;
    const cellOf = (name: string) => (row.kind === 'row' ? row.fields[header.indexOf(name)] : undefined) ?? '';
    const text = columnsOfDate(date).map(cellOf).join(' ').trim();
    const written = read(text);
    const moments = written === null ? [] : momentsOf(written);
    if (moments[0] !== undefined) {
      const key = JSON.stringify(names.map(cellOf));
      const market = markets.get(key) ?? { before: null, run: [] };
      markets.set(key, market);
      if (moments.length > 1) {
        market.run.push({ row: row as CsvRow, moments });
        open.add(market);
      } else {
        settle(market, moments[0]);
        open.delete(market);
      }
    }
    if (open.size > 0 && held.length < HELD_MAX) continue;
    for (const market of open) settle(market, null);
    open.clear();
    yield* held;
    held = [];
  }
  for (const market of open) settle(market, null);
  yield* held;
}

function settle(market: Market, after: number | null): void {
  const { before, run } = market;
  const counts = new Map<number | undefined, number>();
  for (const { moments } of run) counts.set(moments[0], (counts.get(moments[0]) ?? 0) + 1);
  const pairs = run.filter(({ moments }) => counts.get(moments[0]) === 2);
  const orders = [1, -1].flatMap((direction) => {
    const seen = new Set<number | undefined>();
    const meant = pairs.map(({ moments: [earlier, later] }) => {
      const isFirst = !seen.has(earlier);
      seen.add(earlier);
      return (isFirst === direction > 0 ? earlier : later) as number;
    });
    const all = [before, ...meant, after].filter((moment) => moment !== null);
    return all.every((moment, index) => index === 0 || (moment - (all[index - 1] as number)) * direction > 0)
      ? [meant]
      : [];
  });
  const [order] = orders;
  // Without other rows around them, two rows may be in either order.
  if (orders.length === 1) for (const [index, { row }] of pairs.entries()) row.meantMs = order?.[index] as number;
  market.before = after;
  market.run = [];
}
