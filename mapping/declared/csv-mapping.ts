/**
 * The mapping of an operator's CSV file, or JSON or XML document, to ingest records. It is a JSON document, in which comments
 * and trailing commas are allowed. It is validated here and carried out by `map-csv.ts`. `docs/mapping.md` has examples; this
 * is the reference.
 *
 * A **template** is text with `{column}` placeholders, which stand for the row's value in that column, with white space
 * trimmed. A template has no expressions, no functions, and no way to write a brace. A column is one of the CSV file's, or one
 * that a look-up table of the mapping adds. `{observedDate}`, the date in the file (YYYY-MM-DD), may be used in `sourceUrl`,
 * `sourceLabel` and `releasedAt`.
 *
 * `mapping/sample/mapping.json` is a complete example.
 */
import * as z from 'zod';
import { MARKET_METRICS_MAX } from '../../contract/files/limits.ts';
import { cadenceSchema } from '../../contract/freshness/cadence.ts';
import { outlierRuleSchema } from '../../contract/values/market.ts';
import {
  confidenceSchema,
  metricNameSchema,
  metricStatusSchema,
  unknownReasonSchema,
} from '../../contract/values/metric.ts';
import { isDateFormat } from '../values/date-format.ts';
import { DECIMAL_MARKS, GROUP_MARKS } from '../values/number-format.ts';
import { timeZoneSchema } from '../values/zone-clock.ts';
import { columnName, csvSchema, jsonSchema, unpivotSchema, xmlSchema } from './file-forms.ts';

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
 * A look-up table: adds columns to each row. `key` is a template over the file's columns and those of earlier tables. Each of
 * `rows` gives, for one key, the values of `columns` in order. A key that is not listed gets `otherwise`: values, or
 * `leave-out`, and then its row gives no record. Without `otherwise`, its row is refused.
 */
const tableSchema = z.strictObject({
  key: template,
  columns: z.array(columnName).min(1),
  rows: z.record(z.string(), z.array(text)),
  otherwise: z.union([z.array(text), z.literal('leave-out')]).optional(),
});

const sourceTemplateSchema = z.strictObject({
  label: template,
  /** Placeholder values are percent-encoded. */
  url: template,
  publisher: template.nullable().default(null),
  /** SPDX identifier, if the licence has one. */
  licence: template.nullable().default(null),
  attribution: template.nullable().default(null),
  /** How often the source publishes. Left out or null: not stated. */
  cadence: cadenceSchema.nullable().default(null),
});

/** The market of a row. It may use only columns of `match`, and of tables keyed by them. */
const marketTemplateSchema = z.strictObject({
  /**
   * Placeholder values are lower-cased; runs of characters other than a–z and 0–9 become one hyphen: "100 KG" is
   * `100-kg`.
   */
  slug: template,
  /**
   * `unless-exact`: the slug gets a hyphen and eight characters of a digest of the values of `match`, unless it spells these
   * values exactly: they have only small letters, digits and, if there is one value, single hyphens. It is shortened if
   * necessary. So a name always has the same slug, and two names never share one, whatever else is in the file. `never`: two
   * names with one slug are refused.
   */
  slugDigest: z.enum(['never', 'unless-exact']).default('never'),
  name: template,
  kind: template,
  /** Left out: the currency of the observations. */
  nativeCurrency: template.optional(),
  /**
   * The quantity that one price of the market buys. `quantity` must give a positive integer. Alternatively it is `exact`: the
   * smallest power of ten, from `atLeast` to 10^15, at which each amount of the market in the file is whole minor units. A
   * market with observations keeps its quantity. Then an amount that does not fit is refused or rounded, by `rounding`.
   */
  unit: z.strictObject({
    quantity: template,
    of: template,
    atLeast: z
      .string()
      .regex(/^10{0,15}$/, { error: 'must be a power of ten in digits, such as 1000000' })
      .optional(),
  }),
  sources: z.array(sourceTemplateSchema).max(20).default([]),
  /**
   * Facts that are not numbers, by name, such as `"mode": "{mode}"`. If they differ between rows of a market, the first
   * accepted row counts. A blank one is left out. Each has the source and the date of its row's observation.
   */
  attributes: z.record(metricNameSchema, template).optional(),
  /**
   * The markets' own rule for outliers: `off`, or how many times their usual size a value may differ from this many neighbours.
   * Readers see it. Left out: markets keep their rule. Null: the rule of the service.
   */
  outliers: outlierRuleSchema.nullable().optional(),
  /** The reason for the rule, which readers see. */
  outliersReason: text.min(1).max(500).optional(),
});

const valueSchema = z.strictObject({
  column: columnName,
  /** The notation of numbers; nothing is guessed. `{ "decimalMark": ",", "groupMark": "." }` reads `1.234,5`. */
  number: z
    .strictObject({
      /** `either`: a number has at most one point or comma, before its decimals; `1.234`, which may be a thousand, is refused. */
      decimalMark: z.enum([...DECIMAL_MARKS, 'either']).default('.'),
      groupMark: z.enum(GROUP_MARKS).optional(),
      /**
       * `drop`: `4.7810` is stored as `4.781`, and `10.00` as `10`. For a source that writes the same number in two ways in
       * different files: otherwise each file would correct the other.
       */
      trailingZeros: z.enum(['keep', 'drop']).default('keep'),
      /**
       * Texts that may be directly before or after a number without being part of it, such as `€` or `EUR/MWh`. They do not
       * determine the currency: with a fixed `currency`, signs of another one are refused.
       */
      signs: z
        .array(
          z
            .string()
            .trim()
            .min(1)
            .max(20)
            .regex(/^[^\d.,+\-\u2212]+$/, { error: 'must not hold a part of a number' }),
        )
        .max(20)
        .default([]),
    })
    .prefault({}),
  /** Cells that count as blank, e.g. `N/A`, `-` or `..`. In this column only: elsewhere `NA` may be Namibia. */
  blankValues: z.array(z.string().trim().min(1)).default([]),
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
  /**
   * The meaning of a blank cell: an unknown value with this reason; a refused row (provenance.incomplete); or no record
   * (`leave-out`), such as in the column of a currency that no longer exists.
   */
  blank: z
    .union([z.enum(['refuse', 'leave-out']), z.strictObject({ unknownReason: unknownReasonSchema })])
    .default('refuse'),
  /** Whether a zero in the file is a real value. If not, its row is refused (amount.zero-unasserted). */
  zero: z.enum(['refuse', 'asserted']).default('refuse'),
});

/**
 * `YYYY`, `MM`/`M`/`MMM` (`Jan`)/`MMMM` (`January`) and `DD`/`D` with separators between them, e.g. `YYYY-MM-DD`, `D.M.YYYY`,
 * `YYYYMM`; or `YYYY` with `Q` (`Q1` to `Q4`), or alone. `'M'` is the letter, as in `2026M01`. Of `YY`, `69` to `99` are in the
 * last century. A time may follow: `HH`/`H`, `mm`, `ss`, `S` (a fraction of a second) and `Z` (an offset from UTC), e.g.
 * `YYYY-MM-DDTHH:mm:ssZ`. A double letter stands for two digits, a single one for one or two. Of a range, such as
 * `DD.MM.YYYY HH:mm - HH:mm`, the beginning counts. `DD.MM.YYYY #60` numbers the hours of a day from 1 on, which are 23 or 25 if
 * the clocks change; `#30` and `#15` number the halves and quarters of an hour. Also `unix-seconds` or `unix-milliseconds`: a
 * count since 1970-01-01T00:00Z.
 */
const dateFormat = z.string().max(60).refine(isDateFormat, {
  error:
    'must be unix-seconds or unix-milliseconds; or hold YYYY or YY, perhaps a month (MM, M, MMM or MMMM) or quarter (Q), a day (DD or D) and a time, and separators',
});

/** One format, or several that are tried in order. No text may have different dates in two of them. */
const dateFormats = z.union([dateFormat, z.array(dateFormat).min(1).max(10)]);

/** A column; or several, whose cells are joined by a space, such as those of a date and a time. */
const dateColumn = z.union([columnName, z.array(columnName).min(2).max(4)]);

/** The offset from UTC of times without one, e.g. `+05:30`, or `UTC`. */
const offset = z
  .string()
  .regex(/^(UTC|[+-](0\d|1[0-4]):[0-5]\d)$/, { error: 'must be UTC or an offset such as +05:30' })
  .optional();

/** The interpretation of a file's times. */
const clockFields = {
  offset,
  /** Instead of `offset`: the zone of local times, e.g. `Europe/Berlin` (IANA). A time that its clocks skip is refused. */
  timeZone: timeZoneSchema.optional(),
  /**
   * For a time that occurs twice, because the clocks are set back: the occurrence that is meant. Without it, the row is
   * refused. `in-order`, not for a release: the file has both, in the order of time (see `bothHours`).
   */
  overlap: z.enum(['earlier', 'later', 'in-order']).optional(),
  /** For times with microseconds: moments are stored to the millisecond. `cut` drops the rest. */
  beyondMilliseconds: z.enum(['refuse', 'cut']).default('refuse'),
};

/** A moment of time. */
const dateSchema = z.strictObject({
  column: dateColumn.optional(),
  /** Instead of a column: the date of all rows, in the format. */
  constant: z.string().trim().min(1).max(60).optional(),
  format: dateFormats,
  /**
   * `day`: 00:00 UTC of the day in the file; its time is ignored. `month`, `quarter`, `year`: 00:00 UTC of its first day; the
   * day is ignored. `instant`: the moment itself. Then each format needs a time.
   */
  precision: z.enum(['instant', 'day', 'month', 'quarter', 'year']),
  ...clockFields,
  /**
   * Whether dates before 1900, and releases more than 366 days before `observedAt`, are correct. If not, their rows are refused
   * (date.implausible).
   */
  early: z.enum(['refuse', 'confirmed']).default('refuse'),
  /** The column to use if the cell is empty. Without it, an empty date refuses the row. */
  whenBlank: z.strictObject({ column: dateColumn, format: dateFormats }).optional(),
});

/**
 * When the source first published the value: a template that gives a time in UTC, such as `{release day}T14:30:00Z`, or a
 * column whose formats have a time. A day alone is refused, because its midnight would be a guess, and too early. If a column
 * is blank, the release of its row is unknown. Leave `releasedAt` out if the source does not state it. The time of the newest
 * file is not a release: it would correct every row each day.
 */
const releaseSchema = z.union([
  template,
  z.strictObject({
    ...{ column: dateColumn, format: dateFormats, ...clockFields },
    overlap: z.enum(['earlier', 'later']).optional(),
  }),
]);

/** One more metric of the same row. It shares the date, the source and the words of the first one. */
const furtherMetricSchema = z.strictObject({
  metric: metricNameSchema,
  value: valueSchema,
  /** The currency of an amount of money; left out: that of the first metric. */
  currency: template.optional(),
  /** For a number other than money: the unit that it counts, such as `token`. */
  unit: text.min(1).max(60).optional(),
});

const observationTemplateSchema = z.strictObject({
  metric: metricNameSchema.default('price'),
  value: valueSchema,
  /** The currency of an amount of money. */
  currency: template.optional(),
  /** For a number other than money, such as a rate in `percent`: the unit that it counts. `metric` then names it. */
  unit: text.min(1).max(60).optional(),
  /** Further metrics of the row, for several observations of one market in one row. */
  also: z.array(furtherMetricSchema).max(MARKET_METRICS_MAX).default([]),
  date: dateSchema,
  releasedAt: releaseSchema.optional(),
  /**
   * Whether the source publishes values before their moment: `when-ahead`, only rows with a future moment; `true`, all rows
   * (others are refused). They may be up to 400 days ahead.
   */
  announced: z.union([z.literal(true), z.literal('when-ahead')]).optional(),
  /** The public reason of corrections, for files with corrections only. No reason if its columns are blank. */
  publicReason: template.optional(),
  /** Left out: the label of the market's only source. */
  sourceLabel: template.optional(),
  /** Placeholder values are percent-encoded. */
  sourceUrl: template,
  confidence: choiceOf(confidenceSchema),
  status: choiceOf(metricStatusSchema),
  /**
   * `leave-out`: a row that repeats an earlier one of its market and date is skipped, such as the rate of a currency in a list
   * of countries. `refuse`: two rows of one observation are an error.
   */
  repeats: z.enum(['refuse', 'leave-out']).default('refuse'),
});

/**
 * An operator's statement that the source is wrong. Rows in which every column of `where` has one of its values become unknown
 * values (`withheld`), with the source's digits. Nothing is dropped. `reason` is for readers of the mapping.
 */
const withholdSchema = z.strictObject({
  where: z.record(columnName, z.array(z.string()).min(1)).refine((where) => Object.keys(where).length > 0, {
    error: 'must name at least one column',
  }),
  reason: z.string().trim().min(10),
});

const writtenMappingSchema = z.strictObject({
  /** For people: the contents of the file, its origin and its licence. */
  description: z.string().optional(),
  csv: csvSchema.prefault({}),
  /**
   * Invisible characters, such as a zero-width space, in cells and column names. They cannot be published: a text with one is
   * refused. `strip` removes them, and turns a line break into a space.
   */
  invisible: z.enum(['refuse', 'strip']).default('refuse'),
  /** For a JSON file. */
  json: jsonSchema.optional(),
  /** For an XML file. */
  xml: xmlSchema.optional(),
  unpivot: unpivotSchema.optional(),
  /**
   * The columns that identify a market: rows that agree in all of them belong to one market. Empty if the file is about one
   * market and no column names it.
   */
  match: z.array(columnName),
  tables: z.array(tableSchema).default([]),
  market: marketTemplateSchema,
  observation: observationTemplateSchema,
  withhold: z.array(withholdSchema).default([]),
});

export const NO_CURRENCY =
  'is missing. A number other than money, such as a rate, has a "unit" instead, such as "percent"';

/** A mapping, with the two fields that most people would write twice. */
export const csvMappingSchema = writtenMappingSchema.transform(({ market, observation, ...others }, context) => {
  const [source, ...more] = market.sources;
  const nativeCurrency = market.nativeCurrency ?? observation.currency;
  const sourceLabel = observation.sourceLabel ?? (more.length === 0 ? source?.label : undefined);
  if (nativeCurrency !== undefined && sourceLabel !== undefined) {
    return { ...others, market: { ...market, nativeCurrency }, observation: { ...observation, sourceLabel } };
  }
  const missing = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (nativeCurrency === undefined && observation.unit === undefined) missing(['observation', 'currency'], NO_CURRENCY);
  else if (nativeCurrency === undefined) {
    missing(['market', 'nativeCurrency'], 'is missing, and the observations have no currency');
  }
  const sources = more.length === 0 ? 'no source' : 'several sources';
  if (sourceLabel === undefined) missing(['observation', 'sourceLabel'], `is missing, and the market has ${sources}`);
  return z.NEVER;
});

export type CsvMapping = z.output<typeof csvMappingSchema>;

/** One metric of a mapping, with everything that it shares with the others. If it has a `unit`, it is not money. */
export type MappedMetric = CsvMapping['observation'];

/** The metrics of each row: the first one, and the further ones. */
export function metricsOf({ observation }: CsvMapping): readonly MappedMetric[] {
  const further = observation.also.map((each) => {
    return { ...observation, ...each, unit: each.unit, currency: each.currency ?? observation.currency };
  });
  return [observation, ...further];
}

/** Whether the quantities are derived from the amounts in the file. */
export function isExact({ market }: CsvMapping): boolean {
  return market.unit.quantity === EXACT;
}

const EXACT = 'exact';
export type MappedDate = z.infer<typeof dateSchema>;

/** The columns of the file that contain a moment. */
export function columnsOfDate({
  column,
}: {
  readonly column?: string | readonly string[] | undefined;
}): readonly string[] {
  return [column ?? []].flat();
}

/** A fault of a mapping: its place (JSON Pointer, RFC 6901) and its remedy. */
export interface MappingFault {
  readonly pointer: string;
  readonly detail: string;
  /** The line in the mapping's text, from 1 on; left out if the text is unknown. */
  readonly line?: number;
}
