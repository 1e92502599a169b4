/** The forms of a file: the part of a mapping that states where rows and columns are. */
import * as z from 'zod';
import { isEncoding } from '../input/csv-input.ts';

export const columnName = z.string().trim().min(1).max(200);

export const csvSchema = z.strictObject({
  /** The character between two fields, e.g. `;` or a tab. */
  delimiter: z
    .string()
    .length(1)
    .regex(/[^"\r\n]/, { error: 'must not be a quote or a line break' })
    .default(','),
  /** A label of the WHATWG Encoding Standard, e.g. `windows-1252` or `utf-16le`. */
  encoding: z.string().refine(isEncoding, { error: 'is not a known encoding' }).default('utf-8'),
  /** The number of lines before the one with the column names. They are not read. */
  linesBeforeHeader: z.int().min(0).max(10_000).default(0),
  /** The number of rows directly after the header that are not data, such as a second header or units. */
  rowsAfterHeader: z.int().min(0).max(100).default(0),
});

/** RFC 6901; the empty one is the document itself. */
const jsonPointer = z
  .string()
  .max(500)
  .regex(/^(\/([^~/]|~[01])*)*$/, {
    error: 'must be a JSON Pointer such as /data/rates',
  });

/**
 * For a JSON document instead of a CSV file. A row's columns are named by the JSON Pointers of its values without the first
 * slash: `{"day": "…", "price": {"usd": 1.1}}` has `day` and `price/usd`, and `["…", 1.1]` has `0` and `1`. Numbers keep their
 * spelling; null is blank. A column that a row lacks is blank.
 */
export const jsonSchema = z.strictObject({
  /**
   * The place of the rows: an array of them, or an object, which is one row. A part in braces stands for each member there, and
   * adds a column with the member's name: `/{provider}/models`.
   */
  rows: jsonPointer,
  /** For an object whose members are the rows, such as `{"usd": …, "jpy": …}`: the column with the member's name. */
  name: columnName.optional(),
  /** For rows that are a single value, such as `1.1`: the column for it. */
  value: columnName.optional(),
  /**
   * The object at `rows` has arrays of one length, which are columns: `{"unix_seconds": [1, 2], "price": [10, 11]}` has two
   * rows. Its other members are ignored.
   */
  parallel: z.literal(true).optional(),
  /** Columns that all rows share, from anywhere in the document. */
  columns: z.record(columnName, jsonPointer).default({}),
});

/**
 * For an XML document. A row's columns are its attributes (`@rate`), its text (`.`), the texts of its children (`name`,
 * `price/net`) and their attributes (`price/@currency`); and those of the enclosing elements, if they come before the row
 * (`../@time`, `../../period/start`). The second of two children with one name is `price[2]`. Names are without their prefix.
 */
export const xmlSchema = z.strictObject({
  /** The path of the elements that are rows, from the first element on: `/Envelope/Cube/Cube/Cube`. */
  rows: z
    .string()
    .max(500)
    .regex(/^(\/[^/@\s[\]:]+)+$/, { error: 'must be a path of elements such as /rates/rate' }),
});

/**
 * For a wide table, which has several values in a row, e.g. a column for each currency. Each row becomes one row for each of
 * `columns`, with two more columns: `name` has the column's name, and `value` has its cell. The rest of the mapping applies to
 * these rows.
 */
export const unpivotSchema = z.strictObject({
  /** A list; or all columns except some, which includes new columns of the file. Columns without a name are never taken. */
  columns: z.union([z.array(columnName).min(1), z.strictObject({ except: z.array(columnName) })]),
  name: columnName,
  value: columnName,
});
