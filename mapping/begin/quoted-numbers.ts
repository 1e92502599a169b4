/** Reads the numbers of a file, with their currencies and markets. */
import { plainDecimal } from '../../contract/values/money.ts';
import type { CsvInput } from '../input/csv-input.ts';
import { readCsv } from '../input/csv-rows.ts';
import { numberReader } from '../values/number-format.ts';
import type { Dialect } from './dialect.ts';
import type { MappingDraft } from './draft.ts';

/** A number of the file as plain decimal text, the code of its currency, and the key of its market. */
export interface QuotedNumber {
  readonly digits: string;
  /** Null if the file does not say it. */
  readonly currency: string | null;
  readonly market: string;
}

export async function* quotedNumbers(
  csv: CsvInput,
  dialect: Dialect,
  { table, guess: { number, values, currency }, match }: MappingDraft,
): AsyncGenerator<QuotedNumber> {
  const read = numberReader(number?.formats[0] ?? { decimalMark: '.' });
  const placeOf = (name: string) => table.columns.findIndex((column) => column.name === name);
  const places = values.map((column) => ({ name: column.name, place: table.columns.indexOf(column) }));
  const currencyPlace = currency.kind === 'column' ? placeOf(currency.column) : -1;
  const matchPlaces = match.map(placeOf);
  const codeIn = (text: string) => (currency.kind === 'named' ? currency.code : text.toUpperCase());
  for await (const row of readCsv(csv, dialect)) {
    if (row.kind !== 'row') continue;
    // A column that is not in the file is the one that `unpivot` fills with the name of another.
    const cell = (place: number, name: string) => row.fields[place] ?? name;
    for (const { name, place } of places) {
      const digits = read(row.fields[place] as string);
      if (digits === null) continue;
      const code = currency.kind === 'unknown' ? null : codeIn(cell(currencyPlace, name));
      yield {
        digits: plainDecimal(digits),
        currency: code,
        market: matchPlaces.map((each) => cell(each, name)).join('-'),
      };
    }
  }
}
