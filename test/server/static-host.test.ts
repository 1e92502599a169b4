/** `verify` of a damaged folder behind a web server that knows only files. test/tools/hosts.test.ts has whole ones. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { serveFiles } from '../run/run-world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

/** A second page of the history. */
const OBSERVATIONS = 70;

test('verify knows a host of plain files by itself, and finds files that were altered', async () => {
  const folder = await temporaryFolder();
  const world = createWorld(DEFAULT_PAGE_SIZES);
  const objects = await openDirectoryObjects(folder);
  const dependencies = withLog(dependenciesOn(world.ledger, objects, world.clock, DEFAULT_PAGE_SIZES));
  const rows = Array.from({ length: OBSERVATIONS }, (_, day) => price('tin', day, 1000 + day));
  await world.ingest([market('tin'), market('zinc'), ...rows]);
  while ((await publish(dependencies)).isMoreDue);
  const files = join(folder, 'public');
  const names = (await readdir(files, { recursive: true })).filter((name) => name.endsWith('.json'));
  const pages = names.filter((name) => name.includes('/pages/'));
  expect(pages).not.toEqual([]);
  const altered = ['api/v1/markets/tin.json', ...pages].map((name) => join(files, name));
  const verify = async (host: string) => await tidemark(['verify', host, '--json', '--quiet']);
  const url = await serveFiles(files);
  expect(await verify(url)).toMatchObject({ code: 0 });
  for (const file of altered) await writeFile(file, (await readFile(file, 'utf8')).replace('10.05', '10.06'));
  const { code, output } = await verify(url);
  const { findings } = JSON.parse(output) as { readonly findings: readonly { readonly url: string }[] };
  expect([code, findings.map(({ url }) => url).join(' ')]).toEqual([1, expect.stringMatching(/tin/)]);
});
