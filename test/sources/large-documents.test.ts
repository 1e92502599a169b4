/** A large answer of a source does not hold up the other work of its process. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeFile, pieces } from '../../lambdas/sources/run/derive-file.ts';
import { parseRecipe } from '../../mapping/recipe/recipe.ts';

const RECIPE = new URL('../../mapping/recipes/ecb-daily-xml.json', import.meta.url);

test('while an XML document is read, other work has a turn after each piece of it', async () => {
  const parsed = parseRecipe(JSON.parse(readFileSync(RECIPE, 'utf8')));
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  const rows = '<Cube currency="USD" rate="1.5"/>'.repeat(40_000);
  const bytes = Buffer.from(`<Envelope><Cube><Cube time="2026-01-02">${rows}</Cube></Cube></Envelope>`);
  let turns = 0;
  const answer = { sha256: '', isWhole: true, context: { date: '2026-01-02' }, open: async () => pieces(bytes) };
  await describeFile({ recipe: parsed.recipe, answer, earlier: [], mayShrink: false }, async () => {
    turns += 1;
  });
  expect(turns).toBeGreaterThanOrEqual(bytes.length / 65_536);
});
