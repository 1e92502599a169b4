import { type MarketRecord, marketRecordSchema } from '../../contract/ingest/ingest-records.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { type RowColumns, type RowPart, refusedPart, textFault } from '../input/row-columns.ts';
import { compileTemplate } from '../values/template.ts';
import type { CsvMapping } from './csv-mapping.ts';
import type { MappedObservation } from './map-observation.ts';

const { attributes: attributesSchema } = marketRecordSchema.shape;

/**
 * Makes the function that adds the facts of a row to its market's record. It returns the record unchanged if the mapping
 * declares none.
 *
 * @returns a function of the row, its market's record, and an observation of the row, from which the facts take source and date
 */
export function attributeMapper({ market: { attributes } }: CsvMapping) {
  const templates = Object.entries(attributes ?? {}).map(([name, value]) => [name, compileTemplate(value)] as const);
  return (columns: RowColumns, record: MarketRecord, observation: MappedObservation): RowPart<MarketRecord> => {
    if (templates.length === 0) return { value: record };
    const { sourceLabel, sourceUrl, observedAt } = observation;
    const entries = templates.flatMap(([name, textOf]) => {
      const value = textOf(columns);
      return value.trim() === '' ? [] : [[name, { value, sourceLabel, sourceUrl, observedAt }] as const];
    });
    const { data, error } = attributesSchema.safeParse(Object.fromEntries(entries), { error: plainWords });
    if (data !== undefined) return { value: { ...record, attributes: data } };
    const [issue] = error?.issues ?? [];
    const name = String(issue?.path[0] ?? '');
    const text = entries.find(([each]) => each === name)?.[1].value ?? '';
    const detail = textFault(['attributes', name, 'value'], text, issue?.message ?? '');
    return refusedPart(null, `/attributes/${name}`, 'record.invalid', detail);
  };
}

/** Equal for two records that state the same facts, even from different times. */
export function statedAttributes({ attributes = {} }: Pick<MarketRecord, 'attributes'>): string {
  return JSON.stringify(Object.entries(attributes).map(([name, { value, sourceLabel }]) => [name, value, sourceLabel]));
}
