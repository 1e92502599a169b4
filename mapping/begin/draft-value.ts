/** Writes the starting mapping's value. */

import { metricNameSchema } from '../../contract/values/metric.ts';
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { areOfOneCurrency } from '../values/currency-signs.ts';
import type { ColumnProfile } from './column-profile.ts';
import { type CommentedField, type CommentedObject, field, object } from './commented-json.ts';
import type { MappingDraft } from './draft.ts';
import type { DraftQuantity } from './draft-market.ts';

/** @param quoted how many of the unit the numbers of the file buy */
export function draftValue(
  { guess, added, isList }: MappingDraft,
  quantity: DraftQuantity,
  quoted: string,
): CommentedObject {
  const names = guess.values.map(({ name }) => name);
  const columns = isList ? names.slice(0, 1) : names;
  const column =
    added?.value ??
    (columns.length === 1
      ? (columns[0] as string)
      : `${FILL_IN}: ${columns.length === 0 ? 'no column looks like prices' : columns.join(' or ')}: which column is the price?`);
  const blankWords = [...new Set(guess.values.flatMap(blankWordsOf))];
  const blank = sum(guess.values, (value) => value.blank + countOf(value, blankWords));
  const zeros = sum(guess.values, (value) => value.zeros);
  return object(
    field('column', column),
    ...numberFields(guess.number),
    blankWords.length > 0 && field('blankValues', blankWords, 'Texts that stand for a missing number.'),
    quantity.isLarger && field('quotedQuantity', quoted, quoted === '1' ? 'The file quotes for one.' : ''),
    field('rounding', rounding(quantity), quantity.lossy === 0 ? 'Each number that was looked at is kept whole.' : ''),
    blank > 0 &&
      draftBlank(blank, isList || (added !== null && blank > sum(guess.values, ({ rows }) => rows) * MANY_BLANKS)),
    zeros > 0 &&
      field(
        'zero',
        `${FILL_IN}: ${zeros === 1 ? '1 value is' : `${zeros} values are`} zero: write "asserted" if zero is the price, or "refuse" if it stands for a missing one`,
      ),
  );
}

/** The names of the metrics: one is the price, of several each has its own. */
export function draftMetrics(
  { guess, isList }: MappingDraft,
  value: CommentedObject,
): { readonly metric: CommentedField | false; readonly also: CommentedField | false } {
  const [first, ...others] = guess.values;
  if (!isList || first === undefined || others.length === 0) return { metric: false, also: false };
  const also = others.map(({ name }) => {
    const fields = value.fields.map((each) =>
      each.key === 'column' ? field('column', name) : { ...each, comment: '' },
    );
    return object(field('metric', metricOf(name)), field('value', { fields }));
  });
  return {
    metric: field('metric', metricOf(first.name)),
    also: field('also', also, 'Further metrics of each row. One that is no money has a "unit", such as "token".'),
  };
}

function metricOf(column: string): string {
  const [first = '', ...others] = column
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const name = first + others.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
  return metricNameSchema.safeParse(name).success ? name : `${FILL_IN}: a name such as inputPrice`;
}

/** In a wide table, this many blanks are columns that begin late or end early. */
const MANY_BLANKS = 0.2;

function draftBlank(blank: number, isLeftOut: boolean): CommentedField {
  const reasons = 'not-published, not-yet-published, not-applicable, withheld, source-unreachable';
  const comment = isLeftOut
    ? `Blank values, which give nothing: ${blank}. To say that a value is not known, write { "unknownReason": "not-published" }; or ${reasons.slice(15)}.`
    : `Blank values: ${blank}. Reasons: ${reasons}. Or "leave-out" instead of the object: then nothing is said about that date.`;
  return field('blank', isLeftOut ? 'leave-out' : object(field('unknownReason', 'not-published')), comment);
}

function numberFields(number: MappingDraft['guess']['number']): CommentedField[] {
  if (number === null) return [];
  const [format, ...rivals] = number.formats;
  if (rivals.length > 0 || number.differing !== undefined) {
    const choices = number.formats
      .map(({ decimalMark, groupMark }) => JSON.stringify({ decimalMark, groupMark }))
      .join(' or ');
    const why =
      number.differing === undefined
        ? `${number.example} is a number by each`
        : `${JSON.stringify(number.differing)} is not written as other columns are; a "decimalMark" may be given for each column`;
    return [field('number', `${FILL_IN}: ${choices}: ${why}`)];
  }
  if (format === undefined) return [];
  const { decimalMark, groupMark, signs = [] } = format;
  if (decimalMark === '.' && groupMark === undefined && signs.length === 0) return [];
  const mark = typeof decimalMark === 'string' && field('decimalMark', decimalMark);
  const group = groupMark !== undefined && field('groupMark', groupMark);
  return [field('number', object(mark, group, signs.length > 0 && field('signs', signs, doubtOfSigns(signs))))];
}

function doubtOfSigns(signs: readonly string[]): string {
  return areOfOneCurrency(signs)
    ? ''
    : 'Signs of different currencies: one fixed currency is refused. Look up the currency by a column that tells them apart.';
}

function rounding({ lossy, numbers, lossyExample }: DraftQuantity): string {
  if (lossy === 0) return 'refuse';
  return (
    `${FILL_IN}: nearest or refuse: ${lossy} of ${numbers} numbers are of markets that no quantity keeps whole, ` +
    `such as ${lossyExample}: write nearest to round those that do not fit, or refuse`
  );
}

/** A few words without digits, in a column of numbers. */
function blankWordsOf(column: ColumnProfile): string[] {
  const words = [...column.words.keys()].filter((word) => word.length <= 20);
  return words.length <= 5 ? words : [];
}

function countOf({ words }: ColumnProfile, blankWords: readonly string[]): number {
  return blankWords.reduce((count, word) => count + (words.get(word) ?? 0), 0);
}

function sum(columns: readonly ColumnProfile[], count: (column: ColumnProfile) => number): number {
  return columns.reduce((total, column) => total + count(column), 0);
}
