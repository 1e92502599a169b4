/** A list of prices in a repository, and its recipe. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listRecipe as pricesRecipe } from '../sources/example-recipe.ts';

export const PATH = 'data/prices list.json';
export const pricesOf = (prices: Readonly<Record<string, number>>) =>
  JSON.stringify(Object.fromEntries(Object.entries(prices).map(([model, price]) => [model, { price }])));
export const version = (day: number, prices: Readonly<Record<string, number>>) => ({
  files: { [PATH]: pricesOf(prices) },
  at: `2025-01-${String(day).padStart(2, '0')}T12:00:00Z`,
});

/** The path of its file. */
export async function listRecipe(folder: string, origin = 'https://prices.test.example'): Promise<string> {
  const path = join(folder, 'list.json');
  const url = `${origin}/list.json`;
  const recipe = pricesRecipe(2, {
    recipe: { name: 'list', url, hosts: [origin.replace('https://', '')] },
    observation: {
      value: { column: 'price', quotedQuantity: '1', rounding: 'refuse', blank: 'leave-out' },
      sourceUrl: 'https://prices.test.example/',
    },
  });
  await writeFile(path, JSON.stringify(recipe));
  return path;
}
