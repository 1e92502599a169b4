/** A source in the operator's own network: by the command line, on a server that allows it and on one that does not. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { startServer } from '../server/server-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';
import { metalsCsv, recipeWith } from './example-recipe.ts';

async function startSource(): Promise<string> {
  const source = createServer((_, response) => void response.end(metalsCsv(['gold', '2026-11-18', '4129.10'])));
  source.listen(0, 'localhost');
  await once(source, 'listening');
  onTestFinished(() => void source.close());
  return `http://localhost:${(source.address() as AddressInfo).port}`;
}

async function runOn(settings: Readonly<Record<string, string>>, recipe: object) {
  const { folder, remove } = await makeTemporaryFolder();
  const data = join(folder, 'data');
  const server = startServer({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no', ...settings });
  onTestFinished(async () => {
    await server.end('SIGKILL');
    await remove();
  });
  await server.started;
  const path = join(folder, 'recipe.json');
  await writeFile(path, JSON.stringify(recipe));
  const added = await tidemark(['sources', 'add', path, '--data', data]);
  const ran = await tidemark(['sources', 'run', 'metals', '--wait', '--data', data]);
  return [added.code, ran.code, /^reason\t(\S+?):? /m.exec(ran.output)?.[1] ?? /^state\t(.*)$/m.exec(ran.output)?.[1]];
}

test('is fetched by a server whose TIDEMARK_SOURCE_HOSTS names it, and by no other', async () => {
  const origin = await startSource();
  const recipe = recipeWith({ url: `${origin}/daily.csv`, hosts: [origin] });
  expect(await runOn({ TIDEMARK_SOURCE_HOSTS: `https://other.corp.example, ${origin}` }, recipe)).toEqual([
    0,
    0,
    'taken-in',
  ]);
  expect((await runOn({}, recipe)).slice(0, 2)).toEqual([0, 1]);
});
