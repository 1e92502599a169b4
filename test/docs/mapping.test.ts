/** The examples of the page on mappings give the observations that it shows. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { csvMappingSchema } from '../../mapping/declared/csv-mapping.ts';
import { mapCsv } from '../../mapping/declared/map-csv.ts';
import { parseMappingText } from '../../mapping/declared/parse-mapping.ts';

const PAGE = readFileSync(new URL('../../docs/mapping.md', import.meta.url), 'utf8');

const EXAMPLES = PAGE.split('<!-- example: ')
  .slice(1)
  .map((part) => {
    const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(part)?.[1] ?? '';
    return [part.split(' -->')[0], block('csv') || block('json'), block('jsonc'), block('text')] as const;
  });

test('has an example for each kind of file', () => {
  const kinds = ['one series', 'a wide table', 'a long table', 'a JSON document', 'a list of prices'];
  expect(EXAMPLES.map(([name]) => name)).toEqual(kinds);
});

test.each(EXAMPLES)('the example of %s', async (_, csv, mapping, expected) => {
  const result = parseMappingText(mapping);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  let found = '';
  const quantities = new Map<string, number>();
  for await (const row of mapCsv(result.mapping, csv)) {
    if (row.kind === 'refusal') found += `${row.line} ${row.detail}\n`;
    else if ('amountMinor' in row.record) {
      const { market, amountMinor, currency, unknownReason, observedAt } = row.record;
      found += `${market} ${amountMinor} ${amountMinor === null ? `(${unknownReason})` : currency} ${observedAt}\n`;
    } else if (row.record.type === 'market') quantities.set(row.record.slug, row.record.unit.quantity);
    else if (row.record.type === 'observation') {
      const { market, metric, value, ...others } = row.record;
      const of = 'currency' in others ? others.currency : others.unit;
      found += `${market} ${metric} ${value} ${of}, market for ${quantities.get(market)}\n`;
    }
  }
  expect(found).toBe(expected);
});

test('the table names fields that there are', () => {
  const table = PAGE.slice(PAGE.indexOf('## Fields'));
  const named = new Set([...table.matchAll(/"(\w+)":/g)].map(([, name = '']) => name));
  const known = JSON.stringify(csvMappingSchema.toJSONSchema({ io: 'input', unrepresentable: 'any' }));
  expect(named.size).toBeGreaterThan(10);
  expect([...named].filter((name) => !known.includes(`"${name}":`))).toEqual([]);
});
