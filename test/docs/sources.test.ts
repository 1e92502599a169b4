/** The example of the page on sources gives the observations that it shows, and its table names the fields that there are. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deriveRecords } from '../../mapping/recipe/derive-records.ts';
import { parseRecipeText, recipeSchema } from '../../mapping/recipe/recipe.ts';

const PAGE = readFileSync(new URL('../../docs/sources.md', import.meta.url), 'utf8');

const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(PAGE)?.[1] ?? '';

test('the example is a recipe, and gives what it says', async () => {
  const result = parseRecipeText(block('jsonc'));
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  let found = '';
  for await (const row of deriveRecords(result.recipe, bytesOf(block('json')), { date: '2026-01-05' })) {
    if (row.kind === 'refusal') found += `${row.line} ${row.detail}\n`;
    else if (row.record.type === 'market')
      expect(row.record).toMatchObject({ sources: [{ publisher: 'The tea board' }] });
    else if ('amountMinor' in row.record) {
      const { market, amountMinor, currency, observedAt } = row.record;
      found += `${market} ${amountMinor} ${currency} ${observedAt}\n`;
    }
  }
  expect(found).toBe(block('text'));
});

test('the table has each field', () => {
  const table = PAGE.slice(PAGE.indexOf('## The fields'), PAGE.indexOf('## Your own'));
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));
  expect(named.sort()).toEqual(Object.keys(recipeSchema.shape).sort());
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
