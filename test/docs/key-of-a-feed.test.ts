/** The key of a feed, with the scopes that self-hosting.md gives it, sends what sources.md says cron sends. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { serverForAll } from '../server/server-process.ts';
import { metalsCsv, recipeWith } from '../sources/example-recipe.ts';

const documented = (file: string, pattern: RegExp) => {
  const text = readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8');
  return pattern.exec(text)?.[1] as string;
};

const server = serverForAll();

test('the documented fallback corrects values with the documented key', async () => {
  const { folder, data, url } = server;
  const scopes = documented('self-hosting.md', /keys create .*--scopes (\S+)/);
  const words = documented('sources.md', /ingest \S+ --mapping \S+ (--mode correct --partial)/).split(' ');
  const made = await tidemark([
    ...['keys', 'create', '--operator', '--label', 'A feed', '--scopes', scopes, '--markets', 'gold-*'],
    ...['--json', '--data', data],
  ]);
  const environment = { TIDEMARK_KEY: (JSON.parse(made.output) as { key: string }).key };
  const file = join(folder, 'metals.csv');
  const recipe = join(folder, 'recipe.json');
  await writeFile(recipe, JSON.stringify(recipeWith({})));
  for (const price of ['4129.10', '4129.20']) {
    await writeFile(file, metalsCsv(['gold', '2026-11-18', price]));
    const sent = await tidemark(['ingest', file, '--mapping', recipe, ...words, '--url', url], { environment });
    expect(sent.code).toBe(0);
    expect(sent.output).toMatch(/^stored\t[12]$/m);
  }
});
