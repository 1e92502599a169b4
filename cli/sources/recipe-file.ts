/** The text of a recipe: of a file, or of one that is shipped, by its name. */
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
 * @returns the name of the source, the recipe, and `body`: the recipe as the file has it, so that its defaults are those of the service
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
