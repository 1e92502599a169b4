/** `markets history --in EUR`: adds the price in another currency to each row, computed here from rates of the same service. */
import { type AsOf, rowsAt } from '../../clients/typescript/as-of.ts';
import {
  type Conversion,
  convert,
  DayRates,
  rateMarkets,
  readRates,
  type UsedRate,
} from '../../clients/typescript/conversion.ts';
import { HISTORY_COLUMNS } from '../../contract/bodies/history-rows.ts';
import { csvRecord } from '../../contract/values/csv.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { shownAmount } from '../../contract/values/shown-value.ts';
import type { Client } from '../http/client.ts';
import { note } from '../program/output.ts';
import { standingRows } from './history-file.ts';
import { type HistoryForm, printRows, type RowForms, remarkOn, versionsAt } from './markets.ts';
import { tableValue } from './table-value.ts';
import { allEntries, allVersions } from './walk.ts';

/** Columns after those of the history. If a conversion uses two rates, each column about rates has two parts. */
const COLUMNS = [
  ...(['convertedDecimal', 'convertedCurrency', 'conversion', 'rate', 'rateMarket', 'rateObservedAt'] as const),
  ...(['rateSourceLabel', 'rateSourceUrl', 'rateStatus', 'rateConfidence'] as const),
];
type Columns = Readonly<Record<(typeof COLUMNS)[number], string | null>>;

const SHOWN = [
  ...['OBSERVEDAT', 'METRIC', 'VALUE', 'UNIT', 'CONVERTED', 'IN', 'NOTE', 'RATE', 'RATE MARKET', 'RATE OF'],
  ...['STATUS', 'CONFIDENCE', 'SOURCELABEL'],
];

interface Asked {
  readonly slug: string;
  readonly currency: string;
  readonly form: HistoryForm;
  readonly asOf: AsOf | null;
  /** Whether to print the standing rows, oldest first, as in the published file. Otherwise: versions, newest first. */
  readonly isFile: boolean;
}

export async function printConvertedHistory(client: Client, asked: Asked): Promise<void> {
  const { slug, currency, form, asOf, isFile } = asked;
  const rows = isFile ? standingRows(client, encodeURIComponent(slug)) : versionsAt(client, slug, asOf);
  await printRows(client, slug, form, conversions(client, rows, currency, asOf), CONVERTED_FORMS);
}

const CONVERTED_FORMS: RowForms<ConvertedRow> = {
  asJson: ({ observation, conversion }) => ({ ...observation, converted: { derived: true, ...conversion } }),
  columns: [...HISTORY_COLUMNS, ...COLUMNS],
  asCsv: ({ observation, conversion }) => {
    if (observation.announced) return null;
    const fields = { ...observation, ...columnsOf(conversion) } as unknown as Readonly<Record<string, string | null>>;
    return csvRecord([...HISTORY_COLUMNS, ...COLUMNS].map((column) => fields[column]));
  },
  titles: SHOWN,
  cells: ({ observation, conversion }, quoted) => {
    const { observedAt, metric, status, confidence, sourceLabel } = observation;
    const { convertedDecimal, convertedCurrency, conversion: state, ...used } = columnsOf(conversion);
    const { value, unit } = tableValue(observation, quoted);
    const shown = convertedDecimal === null ? state : shownAmount(convertedDecimal, quoted.quantity);
    const notes = [remarkOn(observation), ...conversion.used.map(doubtOf)].filter((text) => text !== '').join('; ');
    return [
      ...[observedAt, metric, value, unit, shown, convertedCurrency, notes],
      ...[used.rate, used.rateMarket, used.rateObservedAt, status, confidence, sourceLabel],
    ];
  },
};

/** Empty for a final rate of high confidence. */
function doubtOf({ row: { status, confidence } }: UsedRate): string {
  const doubts = [
    ...(status === 'final' ? [] : [status]),
    ...(confidence === 'high' ? [] : [`${confidence} confidence`]),
  ];
  return doubts.length === 0 ? '' : `rate: ${doubts.join(', ')}`;
}

interface ConvertedRow {
  readonly observation: PublicObservation;
  readonly conversion: Conversion;
}

async function* conversions(
  client: Client,
  rows: AsyncIterable<PublicObservation>,
  currency: string,
  asOf: AsOf | null,
): AsyncGenerator<ConvertedRow> {
  const markets = await rateMarkets(allEntries(client));
  const ratesFrom = new Map<string, Awaited<ReturnType<typeof readRates>>>();
  for await (const observation of rows) {
    const from = observation.kind === 'money' ? observation.currency : null;
    if (from !== null && !ratesFrom.has(from)) {
      const read = await readRates(markets, from, currency, async (market) => {
        return new DayRates(market, await rowsAt(allVersions(client, market.slug), asOf));
      });
      if (read.ways.length === 0) note(`No market of this service has a rate from ${from} to ${currency}.`);
      ratesFrom.set(from, read);
    }
    const { ways, rates } = ratesFrom.get(from ?? '') ?? { ways: [], rates: new Map() };
    yield { observation, conversion: convert(observation, currency, ways, rates, asOf) };
  }
}

function columnsOf({ currency, decimal, reason, rate, used }: Conversion): Columns {
  const several = (part: (used: Conversion['used'][number]) => string, between: string) =>
    used.length === 0 ? null : used.map(part).join(between);
  return {
    convertedDecimal: decimal,
    convertedCurrency: currency,
    conversion: reason ?? (used.length === 0 ? 'same-currency' : 'derived'),
    rate,
    rateMarket: several(({ market }) => market.slug, ' '),
    rateObservedAt: several(({ row }) => row.observedAt, ' '),
    rateSourceLabel: several(({ row }) => row.sourceLabel, '; '),
    rateSourceUrl: several(({ row }) => row.sourceUrl, ' '),
    rateStatus: several(({ row }) => row.status, ' '),
    rateConfidence: several(({ row }) => row.confidence, ' '),
  };
}
