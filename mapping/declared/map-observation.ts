import type { MarketRecord } from '../../contract/ingest/ingest-records.ts';
import { refusalText } from '../../contract/problems/row-refusal-text.ts';
import { isReleasedLongBefore } from '../../contract/values/instants.ts';
import { absoluteUrlSchema, provenanceFields, sourceUrlSchema } from '../../contract/values/metric.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { type RowColumns, type RowPart, type RowRefusal, refusedPart, textFault } from '../input/row-columns.ts';
import { type Columns, compileTemplate, compileUrl } from '../values/template.ts';
import { type CsvMapping, columnsOfDate, type MappedMetric } from './csv-mapping.ts';
import type { RowMoment } from './map-date.ts';
import { releaseMapper } from './map-release.ts';
import { type MoneyAsDecimal, type MoneyInMinorUnits, type ScalarInput, valueMapper } from './map-value.ts';

/** An observation in one of the forms that a mapping produces. */
export type MappedObservation = MoneyInMinorUnits | MoneyAsDecimal | ScalarInput;

export type ObservationOfRow = { readonly record: MappedObservation } | { readonly refusals: readonly RowRefusal[] };

/**
 * Makes the function that builds a row's observation. All faults of the row are reported at once.
 *
 * @param dateOf reads the row's moment
 */
export function observationMapper(
  mapping: CsvMapping,
  observation: MappedMetric,
  dateOf: (columns: Columns) => RowPart<RowMoment>,
): (columns: RowColumns, market: MarketRecord) => ObservationOfRow {
  const releaseOf = releaseMapper(mapping);
  const toValue = valueMapper(mapping, observation);
  const labelOf = labelMapper(observation.sourceLabel);
  const urlOf = compileUrl(observation.sourceUrl);
  const publicReasonOf = compileTemplate(observation.publicReason ?? '');
  const confidenceOf = choiceOf(observation.confidence, '/confidence');
  const statusOf = choiceOf(observation.status, '/status');
  return (columns, market) => {
    const refusals: RowRefusal[] = [];
    const take = <Value>(part: RowPart<Value>): Value | null => {
      if ('value' in part) return part.value;
      refusals.push(...part.refusals);
      return null;
    };
    const moment = take(dateOf(columns));
    const observedAt = moment?.instant ?? null;
    columns.setObservedDate(moment?.date ?? '');
    const releasedAt = take(releaseOf(columns));
    refusals.push(...earlyFaults(mapping, { observedAt, releasedAt }));
    const value = take(toValue(columns, market, observedAt));
    const confidence = take(confidenceOf(columns));
    const status = take(statusOf(columns));
    const sourceLabel = take(labelOf(columns));
    const sourceUrl = urlOf(columns);
    const urlFault = observedAt === null ? undefined : sourceUrlSchema.safeParse(sourceUrl).error?.issues[0];
    if (urlFault !== undefined) {
      const isAbsolute = absoluteUrlSchema.safeParse(sourceUrl).success;
      const code = isAbsolute ? 'source.url-not-public' : 'source.url-not-absolute';
      refusals.push(refuse(null, '/sourceUrl', code, refusalText(['sourceUrl'], sourceUrl, urlFault.message)));
    }
    if (refusals.length > 0) return { refusals };
    if (observedAt === null || value === null || sourceLabel === null || confidence === null || status === null) {
      throw new RangeError('a part of the row is missing without a refusal');
    }
    const publicReason = publicReasonOf(columns).trim();
    const isEarly =
      observedAt < EARLIEST ||
      (releasedAt !== null && (releasedAt < EARLIEST || isReleasedLongBefore(observedAt, releasedAt)));
    return {
      record: {
        type: 'observation',
        market: market.slug,
        metric: observation.metric,
        ...value,
        sourceLabel,
        sourceUrl,
        observedAt,
        ...(releasedAt === null ? {} : { releasedAt }),
        confidence,
        status,
        ...(isEarly ? { dateConfirmed: true } : {}),
        ...(publicReason === '' ? {} : { publicReason }),
        ...(observation.announced === undefined ? {} : { announced: observation.announced }),
      },
    };
  };
}

/** The first year whose dates need no confirmation. */
export const EARLIEST = '1900';

function earlyFaults(
  { observation: { date, releasedAt } }: CsvMapping,
  times: { readonly observedAt: string | null; readonly releasedAt: string | null },
): RowRefusal[] {
  if (date.early === 'confirmed') return [];
  const [observed = null] = columnsOfDate(date);
  const [released = null] = typeof releasedAt === 'object' ? columnsOfDate(releasedAt) : [];
  const columns = { observedAt: observed, releasedAt: released };
  const remedy = `if such dates are right, set "early" of the mapping's date to "confirmed"`;
  const faults = (['observedAt', 'releasedAt'] as const).flatMap((time) => {
    const instant = times[time];
    if (instant === null || instant >= EARLIEST) return [];
    return [refuse(columns[time], `/${time}`, 'date.implausible', `${instant} is before ${EARLIEST}: ${remedy}`)];
  });
  const { observedAt, releasedAt: release } = times;
  if (faults.length > 0 || observedAt === null || release === null) return faults;
  if (!isReleasedLongBefore(observedAt, release)) return [];
  const detail = `${release} is more than a year before observedAt, ${observedAt}: check the year; ${remedy}`;
  return [refuse(columns.releasedAt, '/releasedAt', 'date.implausible', detail)];
}

/** Keeps the last label, because most rows have the label of the previous row. */
function labelMapper(template: string): (columns: Columns) => RowPart<string> {
  const labelOf = compileTemplate(template);
  let last: { readonly text: string; readonly part: RowPart<string> } | null = null;
  return (columns) => {
    const text = labelOf(columns);
    if (last?.text === text) return last.part;
    const { data, error } = provenanceFields.sourceLabel.safeParse(text, { error: plainWords });
    const why = error?.issues.map(({ message }) => message).join('; ') ?? '';
    const code = text.trim() === '' ? 'provenance.incomplete' : 'record.invalid';
    const part =
      data === undefined
        ? refusedPart(null, '/sourceLabel', code, textFault(['sourceLabel'], text, why))
        : { value: data };
    last = { text, part };
    return part;
  };
}

/** Reads a fixed word, or the word for a column's value. */
function choiceOf<Word extends string>(
  choice: Word | { column: string; values: Record<string, Word>; otherwise?: Word | undefined },
  pointer: string,
): (columns: Columns) => RowPart<Word> {
  if (typeof choice === 'string') return () => ({ value: choice });
  const { column, values, otherwise } = choice;
  return (columns) => {
    const text = columns.get(column);
    const word = Object.hasOwn(values, text) ? values[text] : otherwise;
    if (word !== undefined) return { value: word };
    const detail = `the mapping has no word for ${JSON.stringify(text)}: it lists ${Object.keys(values).join(', ')}`;
    return refusedPart(column, pointer, 'record.invalid', detail);
  };
}

function refuse(column: string | null, pointer: string, code: RowRefusal['code'], detail: string): RowRefusal {
  return { column, pointer, code, detail };
}
