/** Finds the recipe that a word names: a source of the service, a recipe file, or a shipped recipe. */
import { existsSync } from 'node:fs';
import type { SourceRecipe } from '../../contract/operations/sources.ts';
import type { Client } from '../http/client.ts';
import { isAnswered } from '../http/refusals.ts';
import { sourcePath } from './api.ts';
import { checkedRecipe, readRecipe } from './recipe-file.ts';

/**
 * With the key of a feed, which may not read sources, only files and shipped recipes can be named.
 *
 * @param place the path of a file; or the name of a source, or of a shipped recipe
 * @throws CommandError `usage` if there is no such recipe, or it has faults
 */
export async function recipeAt(client: Client, place: string): Promise<unknown> {
  const stored = existsSync(place)
    ? null
    : await findSource(client, place).catch((error: unknown) => {
        if (isAnswered(error, 403)) return null;
        throw error;
      });
  return stored?.recipe ?? JSON.parse(checkedRecipe(place, readRecipe(place)).body);
}

/** Null: the service has no source of this name. */
export async function findSource(client: Client, name: string): Promise<SourceRecipe | null> {
  return await client.resource<SourceRecipe>({ path: sourcePath(name) }).catch((error: unknown) => {
    if (isAnswered(error, 404)) return null;
    throw error;
  });
}
