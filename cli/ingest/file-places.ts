/** Where in a person's file a fault is that the service has found in a record. */
import type { CsvMapping } from '../../mapping/csv-mapping.ts';
import { columnsOf } from '../../mapping/template.ts';
import type { SourceForm } from './source-records.ts';

/** The column of a CSV file, or the field of a record. Null: the whole row, or no single column. */
export function columnAt(pointer: string, source: SourceForm): string | null {
  const [, field = ''] = pointer.split('/');
  if (source.form !== 'csv') return pointer === '' ? null : pointer.slice(1).replaceAll('/', '.');
  return columnOfField(field, source.mapping);
}

function columnOfField(field: string, { observation, market }: CsvMapping): string | null {
  switch (field) {
    case 'amountMinor':
    case 'value':
    case 'sourceValue':
      return observation.value.column;
    case 'observedAt':
      return observation.date.column;
    case 'currency':
    case 'sourceUrl':
    case 'sourceLabel':
      return onlyColumn(observation[field]);
    case 'market':
    case 'slug':
      return onlyColumn(market.slug);
    case 'name':
    case 'kind':
    case 'nativeCurrency':
      return onlyColumn(market[field]);
    default:
      return null;
  }
}

function onlyColumn(template: string): string | null {
  const columns = columnsOf(template);
  return columns.length === 1 ? (columns[0] as string) : null;
}
