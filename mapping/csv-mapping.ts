/**
 * The mapping of an operator's CSV file to ingest records: a JSON document, validated here and carried out by
 * `map-csv.ts`.
 *
 * A **template** is text with `{column}` placeholders: the row's value in that column, with white space trimmed. A
 * template has no expressions, no functions, and no way to write a brace. A column is one of the CSV file's, or one
 * that a look-up table of the mapping adds. `{observedDate}`, the parsed date (YYYY-MM-DD), may be used in `sourceUrl`
 * and `sourceLabel`.
 *
 * `sample/mapping.json` is a complete example.
 */
import * as z from 'zod';
import { confidenceSchema, metricNameSchema, metricStatusSchema, unknownReasonSchema } from '../contract/metric.ts';
import { isDateFormat } from './date-format.ts';

const columnName = z.string().trim().min(1).max(200);
const text = z.string().refine((value) => value.isWellFormed(), { error: 'holds half of a surrogate pair' });
const template = text.min(1).max(2048);

/**
 * Either one word for every row, or a word for each value of a column. A row with a value that is not listed is
 * refused.
 */
function choiceOf<Word extends z.ZodEnum>(word: Word) {
  return z.union([
    word,
    z.strictObject({ column: columnName, values: z.record(z.string(), word), otherwise: word.optional() }),
  ]);
}

/**
 * A look-up table: adds columns to each row. `key` is a template over the file's columns and those of earlier tables.
 * Each of `rows` gives, for one key, the values of `columns` in order. A key that is not listed takes `otherwise`.
 * Without `otherwise`, its row is refused.
 */
const tableSchema = z.strictObject({
  key: template,
  columns: z.array(columnName).min(1),
  rows: z.record(z.string(), z.array(text)),
  otherwise: z.array(text).optional(),
});

const sourceTemplateSchema = z.strictObject({
  label: template,
  /** Placeholder values are percent-encoded. */
  url: template,
  publisher: template.nullable().default(null),
  /** SPDX identifier, if the licence has one. */
  licence: template.nullable().default(null),
  attribution: template.nullable().default(null),
});

/** The market of a row. May use only columns of `match`, and of tables keyed by them. */
const marketTemplateSchema = z.strictObject({
  /**
   * Placeholder values are lower-cased; runs of characters other than a–z and 0–9 become one hyphen: "100 KG" is
   * `100-kg`.
   */
  slug: template,
  name: template,
  kind: template,
  nativeCurrency: template,
  /** The quantity that one price of the market buys. `quantity` must give a positive integer. */
  unit: z.strictObject({ quantity: template, of: template }),
  sources: z.array(sourceTemplateSchema).max(20).default([]),
});

const valueSchema = z.strictObject({
  column: columnName,
  /**
   * The quantity of the market's unit that the file's number buys; by default the market's own quantity. If a market
   * has `quantity` 1000 and the file quotes for 1, then this is `"1"`, and prices are the file's numbers × 1000.
   */
  quotedQuantity: template.optional(),
  /**
   * For numbers that minor units cannot hold. `nearest` rounds half to even, sets `rounded`, and keeps the number as
   * `sourceValue`. `refuse` refuses the row (amount.not-integral).
   */
  rounding: z.enum(['nearest', 'refuse']),
  /** The meaning of an empty cell: an unknown value with this reason, or a refused row (provenance.incomplete). */
  blank: z.union([z.literal('refuse'), z.strictObject({ unknownReason: unknownReasonSchema })]).default('refuse'),
  /** Whether a zero in the file is a real value. If not, its row is refused (amount.zero-unasserted). */
  zero: z.enum(['refuse', 'asserted']).default('refuse'),
});

/** `YYYY`, `MM`/`M` and `DD`/`D` with separators between them, e.g. `YYYY-MM-DD`, `D.M.YYYY`, `YYYYMM`. */
const dateFormat = z
  .string()
  .max(20)
  .refine(isDateFormat, { error: 'must hold YYYY, one of MM or M, at most one of DD or D, and separators' });

const dateSchema = z.strictObject({
  column: columnName,
  format: dateFormat,
  /**
   * `day`: observed at 00:00 UTC of that day. `month`: at 00:00 UTC of the month's first day, and the day is ignored.
   */
  precision: z.enum(['day', 'month']),
  /** Whether dates before 1900 are right. If not, ingest refuses their rows (date.implausible). */
  early: z.enum(['refuse', 'confirmed']).default('refuse'),
  /** The column to use if the cell is empty. Without it, an empty date refuses the row. */
  whenBlank: z.strictObject({ column: columnName, format: dateFormat }).optional(),
});

const observationTemplateSchema = z.strictObject({
  metric: metricNameSchema.default('price'),
  value: valueSchema,
  currency: template,
  date: dateSchema,
  sourceLabel: template,
  /** Placeholder values are percent-encoded. */
  sourceUrl: template,
  confidence: choiceOf(confidenceSchema),
  status: choiceOf(metricStatusSchema),
});

/**
 * An operator's statement that the source is wrong. Rows in which every column of `where` has one of its values are
 * kept as unknown values (`withheld`), with the source's digits. Nothing is dropped. `reason` is for readers of the
 * mapping.
 */
const withholdSchema = z.strictObject({
  where: z.record(columnName, z.array(z.string()).min(1)).refine((where) => Object.keys(where).length > 0, {
    error: 'must name at least one column',
  }),
  reason: z.string().trim().min(10),
});

export const csvMappingSchema = z.strictObject({
  /** For people: the file's contents, its origin and its licence. */
  description: z.string().optional(),
  csv: z.strictObject({ delimiter: z.string().length(1) }).default({ delimiter: ',' }),
  /** The columns that identify a market: rows that agree in all of them belong to one market. */
  match: z.array(columnName).min(1),
  tables: z.array(tableSchema).default([]),
  market: marketTemplateSchema,
  observation: observationTemplateSchema,
  withhold: z.array(withholdSchema).default([]),
});

export type CsvMapping = z.infer<typeof csvMappingSchema>;

/** A fault of a mapping: its place (JSON Pointer, RFC 6901) and its remedy. */
export interface MappingFault {
  readonly pointer: string;
  readonly detail: string;
}
