/** The text of a recipe: of a file, or of one that is shipped, by its name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
