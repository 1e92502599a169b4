import { type MarketRecord, marketRecordSchema } from '../../contract/ingest/ingest-records.ts';
import type { Source } from '../../contract/values/market.ts';
import { checkCurrencyCode } from '../../contract/values/money/currencies.ts';
import { flattenIssues, pointerOf, valueAt } from '../../contract/values/zod-pointers.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { type RowColumns, type RowRefusal, textFault } from '../input/row-columns.ts';
import { type Columns, columnsOf, compileTemplate, compileUrl } from '../values/template.ts';
import { type CsvMapping, isExact } from './csv-mapping.ts';
import { slugWithDigest } from './slug-digest.ts';

/** All rows of a market share the same object. */
export type MarketOfRow = { readonly record: MarketRecord } | { readonly refusals: readonly RowRefusal[] };

/**
 * Makes the function that finds a row's market. A market is built once, at its first row, because its templates read
 * only values that are the same for all its rows. If a market cannot be built, each of its rows is refused.
 */
export function marketMapper(mapping: CsvMapping): (columns: RowColumns) => MarketOfRow {
  const build = marketBuilder(mapping);
  const built = new Map<string, MarketRecord | readonly RowRefusal[]>();
  const slugs = new Set<string>();
  return (columns) => {
    const key = JSON.stringify(mapping.match.map((column) => columns.get(column)));
    const known = built.get(key);
    if (known !== undefined) return 'slug' in known ? { record: known } : { refusals: known };
    let market = build(columns);
    if ('slug' in market && slugs.has(market.slug)) {
      const detail = `${market.slug} is already the slug of other values of ${mapping.match.join(', ')}: make the slug different`;
      market = [refuse('/slug', detail)];
    }
    built.set(key, market);
    if (!('slug' in market)) return { refusals: market };
    slugs.add(market.slug);
    return { record: market };
  };
}

function marketBuilder(mapping: CsvMapping): (columns: Columns) => MarketRecord | readonly RowRefusal[] {
  const { market, match } = mapping;
  const spelled = compileTemplate(market.slug, slugOf);
  const slug = market.slugDigest === 'never' ? spelled : slugWithDigest(market.slug, match, spelled);
  const name = compileTemplate(market.name);
  const kind = compileTemplate(market.kind);
  const nativeCurrency = compileTemplate(market.nativeCurrency);
  const quantity = compileTemplate(isExact(mapping) ? (market.unit.atLeast ?? '1') : market.unit.quantity);
  const of = compileTemplate(market.unit.of);
  const sources = market.sources.map(sourceMapper);
  const { outliers, outliersReason } = market;
  const rule = { ...(outliers !== undefined && { outliers }), ...(outliersReason !== undefined && { outliersReason }) };
  return (columns) => {
    const market = {
      type: 'market',
      slug: slug(columns),
      name: name(columns),
      kind: kind(columns),
      nativeCurrency: nativeCurrency(columns),
      unit: { quantity: positiveInteger(quantity(columns)), of: of(columns) },
      ...(isExact(mapping) && { keepUnit: true }),
      ...rule,
      ...(sources.length === 0 ? {} : { sources: sources.map((sourceOf) => sourceOf(columns)) }),
    };
    const parsed = marketRecordSchema.safeParse(market, { error: plainWords });
    const currency = checkCurrencyCode(nativeCurrency(columns));
    const refusals = flattenIssues(parsed.error?.issues ?? [])
      // The currency's own fault is clearer than the fault of its format.
      .filter((issue) => currency === null || issue.path[0] !== 'nativeCurrency')
      .map(({ path, message }) => refuse(pointerOf(path), textFault(path, valueAt(market, path), message)));
    if (currency !== null) refusals.push({ column: null, pointer: '/nativeCurrency', ...currency });
    return refusals.length > 0 ? withEmptyCells(refusals, mapping, columns) : (parsed.data as MarketRecord);
  };
}

/** If an empty cell has spoilt a text of the market, the fault is that of the cell. A cell may have spoilt several texts. */
function withEmptyCells(
  refusals: readonly RowRefusal[],
  { market: { slug, name, kind, nativeCurrency, unit } }: CsvMapping,
  columns: Columns,
): readonly RowRefusal[] {
  const templates: Readonly<Record<string, string>> = { slug, name, kind, nativeCurrency, 'unit/of': unit.of };
  const spoilt = new Map<string, string[]>();
  const others = refusals.filter(({ pointer }) => {
    const field = pointer.slice(1);
    const empty = columnsOf(templates[field] ?? '').filter((column) => columns.get(column).trim() === '');
    for (const column of empty) spoilt.set(column, [...(spoilt.get(column) ?? []), field]);
    return empty.length === 0;
  });
  const ofCells = [...spoilt].map(([column, fields]): RowRefusal => {
    const detail = `the cell is empty, but the market’s ${fields.join(' and ').replace('/', '.')} ${fields.length === 1 ? 'needs' : 'need'} it: fill it, or remove the row`;
    return { column, pointer: `/${fields[0]}`, code: 'record.invalid', detail };
  });
  return [...ofCells, ...others];
}

function sourceMapper(source: CsvMapping['market']['sources'][number]): (columns: Columns) => Source {
  const [label, url] = [compileTemplate(source.label), compileUrl(source.url)];
  const [publisher, licence, attribution] = [source.publisher, source.licence, source.attribution].map(orNull);
  return (columns) => ({
    label: label(columns),
    url: url(columns),
    publisher: publisher?.(columns) ?? null,
    licence: licence?.(columns) ?? null,
    attribution: attribution?.(columns) ?? null,
    ...(source.cadence !== null && { cadence: source.cadence }),
  });
}

/** A positive integer in plain digits; otherwise NaN, which every schema refuses. */
export function positiveInteger(text: string): number {
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
}

function orNull(template: string | null): ((columns: Columns) => string) | null {
  return template === null ? null : compileTemplate(template);
}

/** "100 KG" → `100-kg`, "Côte d'Ivoire" → `cote-d-ivoire`. */
function slugOf(value: string): string {
  const words = value
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-');
}

function refuse(pointer: string, detail: string): RowRefusal {
  return { column: null, pointer, code: 'record.invalid', detail };
}
