/**
 * The tables of the daily exports: their columns, in order, the same in Parquet, NDJSON and CSV. They have the names of the
 * API's fields. docs/exports.md describes the files.
 */

/** `instant`: RFC 3339 text in NDJSON and CSV, a timestamp in milliseconds of UTC in Parquet. */
export type ColumnType = 'text' | 'integer' | 'number' | 'boolean' | 'instant';

export interface ExportColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly isNullable: boolean;
  readonly description: string;
}

export type ExportCell = string | number | boolean | null;

/** The cells of one row, by column, in the order of the columns. */
export type ExportRow = Readonly<Record<string, ExportCell>>;

export interface ExportTable {
  readonly name: 'observations' | 'markets';
  readonly title: string;
  readonly description: string;
  readonly columns: readonly ExportColumn[];
  readonly primaryKey: readonly string[];
}

const column = (name: string, type: ColumnType, description: string): ExportColumn => ({
  name,
  type,
  isNullable: false,
  description,
});
const nullable = (name: string, type: ColumnType, description: string): ExportColumn => ({
  ...column(name, type, description),
  isNullable: true,
});

const VALUE: readonly ExportColumn[] = [
  nullable('kind', 'text', 'money or scalar.'),
  nullable('amountMinor', 'integer', 'Of money: minor units of the currency. Null is unknown, never zero.'),
  nullable('currency', 'text', 'Of money: ISO 4217.'),
  nullable('minorDigits', 'integer', 'Of money: the decimals of the currency.'),
  nullable('decimal', 'text', "Of money: the exact amount in major units, for the market's whole quantity."),
  nullable('decimalPerUnit', 'text', 'Of money: decimal ÷ quantity, exactly. Null if its decimals do not end.'),
  nullable('value', 'text', 'Of a scalar: the exact decimal. Null is unknown, never zero.'),
  nullable('unit', 'text', 'Of a scalar: what the value counts.'),
  nullable(
    'approximateValue',
    'number',
    'Derived: the amount for one unit, or the value of a scalar, as a binary floating-point number. For charts and ' +
      'statistics, not for accounts.',
  ),
  nullable('status', 'text', 'final, provisional, estimated or aggregate.'),
  nullable('confidence', 'text', 'high, medium or low.'),
  nullable('rounded', 'boolean', "Whether the value could not hold the source's digits exactly."),
  nullable('sourceValue', 'text', "The source's own digits."),
  nullable('unknownReason', 'text', 'Why the value is null.'),
  nullable('sourceLabel', 'text', 'The name of the source.'),
  nullable('sourceUrl', 'text', 'Where the number was read.'),
  nullable('releasedAt', 'instant', 'When the source published the value. Null: not known.'),
];

export const OBSERVATIONS_TABLE: ExportTable = {
  name: 'observations',
  title: 'Observations',
  description:
    'All versions of all observations, also superseded ones. A part has those of 65,536 entries of the log, ordered by ' +
    'market, time, metric and place in the log.',
  primaryKey: ['id'],
  columns: [
    column('market', 'text', 'The slug of the market.'),
    column('observedAt', 'instant', 'The moment that the source gives for the value.'),
    column('metric', 'text', 'price, or the name of another metric.'),
    ...VALUE,
    column('recordedAt', 'instant', 'When the service took it in.'),
    nullable('supersededAt', 'instant', 'When a correction or a retraction replaced it. Null: it stands.'),
    nullable('supersededBy', 'text', 'The id of the observation that replaced it.'),
    nullable('supersedes', 'text', 'The id of the observation that it replaced.'),
    nullable('retraction', 'text', 'mistake or withdrawn, if it takes the value before it back.'),
    column('id', 'text', 'The id of the observation.'),
    column('logIndex', 'integer', 'The index of its entry in the log.'),
  ],
};

export const MARKETS_TABLE: ExportTable = {
  name: 'markets',
  title: 'Markets and their newest values',
  description: 'One row for each metric of each market, with the newest standing value. Ordered by slug and metric.',
  primaryKey: ['market', 'metric'],
  columns: [
    column('market', 'text', 'The slug of the market.'),
    column('metric', 'text', 'price, or the name of another metric.'),
    column('marketName', 'text', 'The name of the market.'),
    column('marketKind', 'text', 'The kind of the market.'),
    column('marketStatus', 'text', 'active or retired.'),
    column('nativeCurrency', 'text', 'ISO 4217.'),
    column('unitOf', 'text', 'What a price buys.'),
    column('unitQuantity', 'integer', 'How much of it.'),
    column('observations', 'integer', 'The number of observations in the history of the market.'),
    nullable('firstObservedAt', 'instant', 'The moment of its first observation.'),
    nullable('lastObservedAt', 'instant', 'The moment of its last observation.'),
    nullable('updatedAt', 'instant', 'When the market was last changed.'),
    column('revision', 'integer', 'The revision of the market.'),
    column('disputed', 'boolean', 'Whether the metric is disputed.'),
    nullable('observedAt', 'instant', 'The moment that the source gives for the value.'),
    ...VALUE,
  ],
};

export const EXPORT_TABLES: readonly ExportTable[] = [OBSERVATIONS_TABLE, MARKETS_TABLE];

/** The number of log entries that a part of the observations covers, and the number of rows in a part of the markets. */
export const EXPORT_PART_ENTRIES = 65_536;

/** For how many days a day's manifest and the parts that it names are kept. */
export const EXPORT_KEPT_DAYS = 35;

/** The formats of a part, by the extension of its file. */
export const EXPORT_FORMATS = {
  parquet: { format: 'parquet', contentType: 'application/vnd.apache.parquet' },
  'ndjson.gz': { format: 'ndjson', contentType: 'application/gzip' },
  'csv.gz': { format: 'csv', contentType: 'application/gzip' },
} as const;

export type ExportExtension = keyof typeof EXPORT_FORMATS;
