/** Writes the currency of the starting mapping. */
import { FILL_IN } from '../parse-jsonc.ts';
import { type CommentedField, field, object } from './commented-json.ts';
import { freeName, type MappingDraft } from './draft.ts';

/** The template of the currency, and the fields of the table that it may need. */
export function draftCurrency({ guess: { currency }, added, table: { columns } }: MappingDraft): {
  readonly template: string;
  readonly table: readonly CommentedField[] | null;
} {
  if (currency.kind === 'unknown') {
    const from = currency.candidates.map((column) => `{${column}}`).join(' or ');
    const hint =
      from === ''
        ? 'the ISO 4217 code of the prices, such as USD'
        : `${from}: which column has the currency of the prices?`;
    return { template: `${FILL_IN}: ${hint}`, table: null };
  }
  const column = currency.kind === 'header' && added !== null ? added.name : currency.column;
  if (currency.isSpeltOut) return { template: `{${column}}`, table: null };
  const name = freeName(columns, 'currencyCode');
  const rows = object(...currency.codes.toSorted().map((code) => field(code, [code.toUpperCase()])));
  return {
    template: `{${name}}`,
    table: [
      field('key', `{${column}}`),
      field('columns', [name], 'ISO 4217 spells them in capitals.'),
      field('rows', rows),
    ],
  };
}
