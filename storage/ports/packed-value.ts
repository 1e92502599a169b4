/**
 * The text of a value in the SQLite ledger. Nearly every item is an observation, and the names of its fields take almost
 * half of its JSON. So if a value has exactly the fields of a form, the text is the form's number and the values of these
 * fields, in order: `1[6117,"high",…]`. Every other value is stored as JSON, which never begins like that.
 *
 * Files hold these texts, so a form never changes. An observation with another field is stored as JSON until there is a
 * form for it. Forms 3 and 4 are for superseded versions.
 */
import type { Json } from '../../contract/values/canonical-json.ts';
import { parseValue } from './ledger-rules.ts';

const OF_EVERY_OBSERVATION = [
  ...['confidence', 'id', 'kind', 'metric', 'observedAt', 'recordedAt', 'releasedAt', 'retraction', 'rounded'],
  ...['sourceLabel', 'sourceUrl', 'sourceValue', 'status', 'supersededAt', 'supersededBy', 'supersedes'],
];

/** The fields of each form in the order of canonical JSON, so that an unpacked value equals one that was never packed. */
const FORMS = [
  { number: 1, fields: [...OF_EVERY_OBSERVATION, 'amountMinor', 'currency', 'unknownReason'].toSorted() },
  { number: 2, fields: [...OF_EVERY_OBSERVATION, 'unit', 'unknownReason', 'value'].toSorted() },
  {
    number: 3,
    fields: [...OF_EVERY_OBSERVATION, 'amountMinor', 'currency', 'firstRevision', 'unknownReason'].toSorted(),
  },
  { number: 4, fields: [...OF_EVERY_OBSERVATION, 'firstRevision', 'unit', 'unknownReason', 'value'].toSorted() },
] as const;

/** @param text the value as canonical JSON */
export function packValue(value: Json, text: string): string {
  if (!isObject(value)) return text;
  const count = Object.keys(value).length;
  const form = FORMS.find(
    ({ fields }) => fields.length === count && fields.every((field) => Object.hasOwn(value, field)),
  );
  return form === undefined ? text : `${form.number}${JSON.stringify(form.fields.map((field) => value[field]))}`;
}

function isObject(value: Json): value is { readonly [field: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws SyntaxError if it is neither JSON nor in a known form */
export function unpackValue(text: string): Json {
  if (!/^\d\[/.test(text)) return parseValue(text);
  const form = FORMS.find(({ number }) => number === Number(text[0]));
  const values = parseValue(text.slice(1)) as Json[];
  if (form === undefined || values.length !== form.fields.length) throw new SyntaxError('no known form');
  return Object.fromEntries(form.fields.map((field, index) => [field, values[index] as Json]));
}
