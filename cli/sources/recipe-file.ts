/** Reads the text of a recipe, from a file or from a shipped recipe. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { parseRecipeText, type Recipe } from '../../mapping/recipe/recipe.ts';
import { CommandError } from '../program/exit-codes.ts';

const SHIPPED = new URL('../../mapping/recipes/', import.meta.url);

/** @param place the path of a file; or the name of a shipped recipe, if there is no such file */
export function readRecipe(place: string): string {
  const shipped = readdirSync(SHIPPED).map((file) => file.replace(/\.json$/, ''));
  try {
    return readFileSync(
      !existsSync(place) && shipped.includes(place) ? new URL(`${place}.json`, SHIPPED) : place,
      'utf8',
    );
  } catch (cause) {
    const message = `The recipe ${place} cannot be read: ${(cause as Error).message}`;
    throw new CommandError('usage', message, `Name a file, or a recipe that is shipped: ${shipped.join(', ')}.`, {
      cause,
    });
  }
}

/**
 * @returns the name of the source, the parsed recipe, and `body`: the recipe as in the file, so that the service fills in its
 *   own defaults
 * @throws CommandError `usage` with every fault and its line
 */
export function checkedRecipe(
  file: string,
  text: string,
): { readonly name: string; readonly recipe: Recipe; readonly body: string } {
  const result = parseRecipeText(text);
  if ('faults' in result) {
    const lines = result.faults.map(({ line, pointer, detail }) => `${file}:${line ?? 1} ${pointer || '/'}: ${detail}`);
    throw new CommandError('usage', `The recipe ${file} is not valid.`, lines.join('\n'));
  }
  const body = JSON.stringify(parse(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true }));
  return { name: result.recipe.name, recipe: result.recipe, body };
}
