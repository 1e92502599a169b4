/** `tidemark markets`: the published markets, and the history of each. */
import { type AsOf, AsOfReading } from '../../clients/typescript/as-of.ts';
import { HISTORY_COLUMNS, historyCsvRecord } from '../../contract/bodies/history-rows.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { Expectations } from '../../contract/freshness/late-sources.ts';
import type { Market } from '../../contract/values/market.ts';
import type { PublicMetric, PublicObservation } from '../../contract/values/metric.ts';
import { leadMetric } from '../../contract/values/metric-words.ts';
import { durationInWords } from '../../server/terminal/words.ts';
import type { Client } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';
import { type Cell, JsonList, note, printFields, printItems, printJson, printRaw } from '../program/output.ts';
import { observedMetrics, tableValue, valueInWords } from './table-value.ts';
import { allMarkets, allVersions } from './walk.ts';

export async function listMarkets(client: Client, asJson: boolean): Promise<void> {
  const titles = ['SLUG', 'NAME', 'VALUE', 'UNIT', 'METRIC', 'OBSERVED', 'SOURCE'];
  await printItems(allMarkets(client), asJson, titles, ({ slug, name, unit, metrics }) => {
    const lead = leadMetric(metrics, ({ kind }) => kind === 'money');
    if (lead === null) return [slug, name, '–'];
    const [metricName, metric] = lead;
    const shown = tableValue(metric, unit);
    return [slug, name, shown.value, shown.unit, metricName, metric.observedAt, metric.sourceLabel];
  });
}

export async function readMarket({ files }: Client, slug: string): Promise<Market> {
  return (await files.resource(marketUrl(encodeURIComponent(slug))).catch(toCommandError)) as Market;
}

export async function showMarket(client: Client, slug: string, asJson: boolean): Promise<void> {
  const market = await readMarket(client, slug);
  if (asJson) return await printJson(market);
  const {
    name,
    kind,
    status,
    nativeCurrency,
    unit,
    metrics,
    announced = {},
    history,
    sources,
    disputed,
    revision,
  } = market;
  await printFields([
    ['slug', market.slug],
    ['name', name],
    ['kind', `${kind}, ${status}`],
    ['quoted for', `${unit.quantity} ${unit.of}, in ${nativeCurrency}`],
    ...observedMetrics(metrics).map(([metric, value]) => [metric, metricInWords(value, unit)] as const),
    ...Object.entries(announced).map(
      ([metric, value]) => ['announced', `${metric} ${metricInWords(value, unit)}`] as const,
    ),
    ['observations', `${history.count}, from ${history.firstObservedAt ?? '–'} to ${history.lastObservedAt ?? '–'}`],
    ...sources.map(
      ({ label, url, licence }) => ['source', `${label}, ${licence ?? 'no licence stated'}, ${url}`] as const,
    ),
    ...sources
      .filter(({ expectedNextAt }) => expectedNextAt !== null)
      .map(({ label, expectedNextAt }) => ['next value', `${expectedNextAt}, of ${label}`] as const),
    ...new Expectations([market])
      .late(Date.now())
      .map(({ label, lateSeconds }) => ['late', `by ${durationInWords(lateSeconds)}, of ${label}`] as const),
    ['disputed', disputed ? 'yes' : 'no'],
    ['revision', revision],
  ]);
}

/** The values of a market at an earlier moment, from its history. No public body has its definition of that time. */
export async function showMarketAsOf(client: Client, slug: string, asOf: AsOf, asJson: boolean): Promise<void> {
  const reading = new AsOfReading<PublicObservation>(asOf);
  let visibleRows = 0;
  for await (const observation of allVersions(client, slug)) if (reading.add(observation)) visibleRows++;
  const at = new Date(asOf.atMs).toISOString();
  const { metrics, bySource } = reading;
  if (asJson)
    return await printJson({ slug, asOf: at, clock: asOf.clock, metrics: { price: null, ...metrics }, bySource });
  const { unit } = await readMarket(client, slug);
  await printFields([
    ['slug', slug],
    ['as of', asOf.clock === 'recorded' ? at : `${at}, by release`],
    ...observedMetrics({ price: null, ...metrics }).map(
      ([metric, value]) => [metric, metricInWords(value, unit)] as const,
    ),
    ['observations', `${visibleRows}, superseded ones left out`],
  ]);
}

/** The columns of an observation in a table; the CSV has all fields. */
const SHOWN = ['OBSERVEDAT', 'METRIC', 'VALUE', 'UNIT', 'STATUS', 'CONFIDENCE', 'SOURCELABEL', 'NOTE'];

export type HistoryForm = 'table' | 'csv' | 'ndjson' | 'json';

export interface RowForms<Row> {
  readonly asJson: (row: Row) => object;
  readonly columns: readonly string[];
  /** Null: the row has no line in the CSV. */
  readonly asCsv: (row: Row) => string | null;
  readonly titles: readonly string[];
  readonly cells: (row: Row, quoted: Market['unit']) => readonly Cell[];
}

const OBSERVATION_FORMS: RowForms<PublicObservation> = {
  asJson: (observation) => observation,
  columns: HISTORY_COLUMNS,
  asCsv: (observation) => (observation.announced ? null : historyCsvRecord(observation)),
  titles: SHOWN,
  cells: (observation, quoted) => {
    const { observedAt, metric, status, confidence, sourceLabel } = observation;
    const { value, unit } = tableValue(observation, quoted);
    return [observedAt, metric, value, unit, status, confidence, sourceLabel, remarkOn(observation)];
  },
};

/** @param asOf the moment at which the versions were visible; null: every version */
export async function printHistory(client: Client, slug: string, form: HistoryForm, asOf: AsOf | null): Promise<void> {
  await printRows(client, slug, form, versionsAt(client, slug, asOf), OBSERVATION_FORMS);
}

export async function printRows<Row>(
  client: Client,
  slug: string,
  form: HistoryForm,
  rows: AsyncIterable<Row>,
  { asJson, columns, asCsv, titles, cells }: RowForms<Row>,
): Promise<void> {
  if (form === 'ndjson') {
    for await (const row of rows) await printRaw(`${JSON.stringify(asJson(row))}\n`);
  } else if (form === 'csv') {
    // LF, as most tools write it.
    await printRaw(`${columns.join(',')}\n`);
    for await (const row of rows) {
      const line = asCsv(row);
      if (line !== null) await printRaw(`${line}\n`);
    }
  } else if (form === 'json') {
    const list = new JsonList();
    for await (const row of rows) await list.add(asJson(row));
    await list.end();
  } else {
    const { unit: quoted } = await readMarket(client, slug);
    await printItems(rows, false, titles, (row) => cells(row, quoted));
  }
}

/** Versions, newest first. @param asOf only those that were visible at that moment; null: every version */
export function versionsAt(client: Client, slug: string, asOf: AsOf | null): AsyncIterable<PublicObservation> {
  const all = allVersions(client, slug);
  return asOf === null ? all : visible(all, asOf);
}

type Remarkable = Pick<PublicObservation, 'announced' | 'publicReason' | 'retraction' | 'supersededBy'>;

/** Empty for a standing, effective value without a reason. */
export function remarkOn({ announced, supersededBy, retraction, publicReason }: Remarkable): string {
  if (supersededBy !== null) return 'superseded';
  const remark = announced ? 'announced' : retraction === null ? '' : RETRACTION_IN_WORDS[retraction];
  return publicReason === undefined ? remark : `${remark === '' ? 'corrected' : remark} (${publicReason})`;
}

const RETRACTION_IN_WORDS = { mistake: 'retracted: mistake', withdrawn: 'withdrawn by the source' } as const;

/** If no row is visible at the moment, a note names the time of the first row. */
async function* visible(observations: AsyncIterable<PublicObservation>, asOf: AsOf): AsyncGenerator<PublicObservation> {
  const reading = new AsOfReading<PublicObservation>(asOf);
  let isAnyVisible = false;
  let earliestMs = Number.POSITIVE_INFINITY;
  for await (const observation of observations) {
    const { recordedAt, releasedAt } = observation;
    const known = asOf.clock === 'recorded' ? recordedAt : (releasedAt ?? recordedAt);
    earliestMs = Math.min(earliestMs, Date.parse(known));
    if (!reading.add(observation)) continue;
    isAnyVisible = true;
    yield observation;
  }
  if (isAnyVisible || earliestMs <= asOf.atMs || earliestMs === Number.POSITIVE_INFINITY) return;
  const at = new Date(earliestMs).toISOString();
  if (asOf.clock === 'released')
    note(`Nothing was released by then, as far as is known: the earliest value is of ${at}.`);
  else {
    note(`Nothing was recorded by then: the earliest recordedAt is ${at}.`);
    note('For imported history add --by-release: then values count from their releasedAt, where it is known.');
  }
}

function metricInWords(
  metric: (PublicMetric & { readonly publicReason?: string }) | null,
  quoted: Market['unit'],
): string {
  if (metric === null) return 'never observed';
  const why = metric.publicReason === undefined ? '' : ` (${metric.publicReason})`;
  return `${valueInWords(metric, quoted)}, ${metric.observedAt}, ${metric.status}, ${metric.sourceLabel}${why}`;
}
