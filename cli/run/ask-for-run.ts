/** Requests a run of one source. If a recipe is named, it is stored first. */
import { existsSync } from 'node:fs';
import type { SourceRecipe } from '../../contract/operations/sources.ts';
import type { Client } from '../http/client.ts';
import { sourcePath } from '../sources/api.ts';
import { findSource } from '../sources/recipe-at.ts';
import { checkedRecipe, readRecipe } from '../sources/recipe-file.ts';

export interface AskedRun {
  readonly name: string;
  /** Whether a new or changed recipe was stored. */
  readonly isStored: boolean;
}

/**
 * @param place the name of a source, the path of a recipe's file, or the name of a shipped recipe
 * @throws CommandError `usage` if the recipe has faults
 */
export async function askForRun(client: Client, place: string, unconditional: boolean): Promise<AskedRun> {
  const asked = await namedSource(client, place);
  await client.call({
    method: 'POST',
    path: sourcePath(asked.name, '/runs'),
    body: JSON.stringify({ unconditional }),
  });
  return asked;
}

/** Does the same as `askForRun`, without requesting a run. */
export async function namedSource(client: Client, place: string): Promise<AskedRun> {
  const isKnown = !existsSync(place) && (await findSource(client, place)) !== null;
  return isKnown ? { name: place, isStored: false } : await store(client, place);
}

async function store(client: Client, place: string): Promise<AskedRun> {
  const { name, body } = checkedRecipe(place, readRecipe(place));
  const stored = await findSource(client, name);
  const headers = stored === null ? { 'if-none-match': '*' } : { 'if-match': `"${stored.revision}"` };
  const { revision } = await client.resource<SourceRecipe>({ method: 'PUT', path: sourcePath(name), headers, body });
  return { name, isStored: revision !== stored?.revision };
}
