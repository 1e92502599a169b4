/** Adds, shows, pauses and removes sources. */
import { SOURCES_URL } from '../../contract/files/routes.ts';
import type { SourceRecipe, SourceState } from '../../contract/operations/sources.ts';
import type { SentSchedule } from '../../mapping/recipe/schedule.ts';
import type { Client } from '../http/client.ts';
import { isAnswered } from '../http/refusals.ts';
import { askFirst } from '../program/ask-first.ts';
import { CommandError } from '../program/exit-codes.ts';
import { type Cell, note, printFields, printItems, printJson } from '../program/output.ts';
import { walkList } from '../reads/walk.ts';
import { sourcePath } from './api.ts';
import { checkedRecipe, readRecipe } from './recipe-file.ts';

/**
 * Stores a recipe. If it has faults, nothing is sent, and no key is needed.
 *
 * @throws CommandError `usage` with every fault and its line
 */
export async function addSource(
  openClient: () => Promise<Client>,
  file: string,
  isReplaced: boolean,
  asJson: boolean,
): Promise<void> {
  const { name, body } = checkedRecipe(file, readRecipe(file));
  const client = await openClient();
  const headers = isReplaced ? { 'if-match': await etagOf(client, name) } : { 'if-none-match': '*' };
  const source = await client
    .resource<SourceRecipe>({ method: 'PUT', path: sourcePath(name), headers, body })
    .catch((error: unknown) => {
      if (isReplaced || !isAnswered(error, 412)) throw error;
      const hint = `To replace its recipe: tidemark sources add ${file} --replace`;
      throw new CommandError('refused', `There is a source ${name} already.`, hint, { cause: error });
    });
  if (asJson) return await printJson(source);
  await printSource(source, await stateOf(client, name));
  note(`It runs by its schedule. To run it now: tidemark sources run ${name} --wait`);
}

export async function printSources(client: Client, asJson: boolean): Promise<void> {
  const states = walkList<SourceState>(client, SOURCES_URL);
  await printItems(states, asJson, ['NAME', 'STATE', 'LAST RUN', 'OUTCOME', 'NEXT RUN'], (state) => {
    const { name, lastRun, nextRunAt } = state;
    return [name, inWords(state), lastRun?.finishedAt, lastRun?.outcome, nextRunAt];
  });
}

export async function showSource(client: Client, name: string, asJson: boolean): Promise<void> {
  const source = await client.resource<SourceRecipe>({ path: sourcePath(name) });
  const state = await stateOf(client, name);
  if (asJson) return await printJson({ ...source, state });
  await printSource(source, state);
}

export async function setPaused(client: Client, name: string, isPaused: boolean, asJson: boolean): Promise<void> {
  const method = isPaused ? 'PUT' : 'DELETE';
  const source = await client.resource<SourceRecipe>({ method, path: sourcePath(name, '/pause') });
  if (asJson) return await printJson(source);
  await printSource(source, await stateOf(client, name));
}

export async function removeSource(client: Client, name: string, isSure: boolean): Promise<void> {
  const headers = { 'if-match': await etagOf(client, name) };
  if (!isSure) await askFirst(`The source ${name} is removed: no run of it begins any more.`);
  await client.call({ method: 'DELETE', path: sourcePath(name), headers });
  note('Removed. Its runs stay on record, and the archive keeps their answers.');
}

async function printSource({ name, recipe, revision }: SourceRecipe, state: SourceState | null): Promise<void> {
  const { lastRun = null, lastSuccessAt = null, nextRunAt = null, run = null } = state ?? {};
  await printFields([
    ['name', name],
    ['description', textOf(recipe.description)],
    ['url', textOf(recipe.url)],
    ['schedule', scheduleText(recipe.schedule as SentSchedule)],
    ['state', state === null ? null : inWords(state)],
    ['run under way', run],
    ['last run', lastRun === null ? null : `${lastRun.outcome}, ${lastRun.finishedAt}, ${lastRun.id}`],
    ['last success', lastSuccessAt],
    ['next run', nextRunAt],
    ['revision', revision],
  ]);
}

function inWords({ paused, run, failures }: SourceState): string {
  const state = paused ? 'paused' : 'scheduled';
  if (run !== null) return `${state}, running`;
  return failures === 0 ? state : `${state}, failed ${failures === 1 ? 'once' : `${failures} times`}`;
}

/** The schedule in words. The recipe may leave out members with a default. */
function scheduleText(schedule: SentSchedule): string {
  if ('everyMinutes' in schedule) return `every ${schedule.everyMinutes} minutes`;
  const { at, days = [], timeZone = 'UTC' } = schedule;
  return `${at.join(', ')} ${timeZone}, ${days.length % 7 === 0 ? 'every day' : days.join(', ')}`;
}

function textOf(value: unknown): Cell {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Null: the source was removed meanwhile. */
async function stateOf(client: Client, wanted: string): Promise<SourceState | null> {
  for await (const state of walkList<SourceState>(client, SOURCES_URL)) if (state.name === wanted) return state;
  return null;
}

async function etagOf(client: Client, name: string): Promise<string> {
  const { headers } = await client.call({ path: sourcePath(name) });
  return headers.get('etag') ?? '*';
}
