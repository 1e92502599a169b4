/**
 * The guide of docs/hosting-static.md from an empty folder to a page: `tidemark init`, the commands of its README, and a web
 * server that knows only files, below a path, as a project's pages are.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { NO_CONFIG, tidemark } from '../cli/tidemark.ts';
import { startFileServer } from '../hosting/file-server.ts';
import { AUTHOR, installTidemark } from '../run/repository.ts';
import { startSource, verify } from '../run/run-world.ts';
import { metalsCsv } from '../sources/example-recipe.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from '../tools/run-tool.ts';
import { openPage } from './pages.ts';

test('an own service shows the price that its source has, and every link of its pages leads to a file', async () => {
  const folder = await temporaryFolder();
  const source = await startSource(folder);
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10'], ['gold', '2026-11-19', '4130.25']);
  const path = join(folder, 'prices');
  await tidemark(['init', path, '--recipe', source.recipe, '--origin', 'you.github.io/prices']);
  const readme = await readFile(join(path, 'README.md'), 'utf8');
  const [install, publish = '', ...others] = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, commands]) => commands,
  );
  expect(install).toBe('npm install ./tidemark-*.tgz\n');
  expect(publish).toContain('bash publish.sh --begin\n');
  expect(others).toEqual([]);
  await installTidemark(path);
  const env = { ...AUTHOR, TIDEMARK_SOURCE_HOSTS: source.origin, TIDEMARK_CONFIG: NO_CONFIG };
  expect(await runTool('bash', ['-euc', publish], { cwd: path, env })).toMatchObject({ exitCode: 0 });
  expect(await verify(join(path, 'site'))).toMatchObject({ code: 0, output: '' });

  const { url, stop } = await startFileServer(path);
  onTestFinished(stop);
  const base = `${url}/site`;
  const { page } = await openPage({ baseURL: base });
  const missing: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) missing.push(response.url().replace(base, ''));
  });
  await page.goto(`${base}/`);
  await page.locator('#markets').getByRole('link', { name: 'Gold' }).click();
  await page.getByText('4,130.25 USD').first().waitFor();
  await page.getByText(/observations are read/).waitFor();
  const links = new Set<string>();
  const collect = async () => {
    const all: string[] = await page.evaluate('[...document.links].map(({ href }) => href.replace(/#.*/, ""))');
    for (const href of all) if (href.startsWith(base)) links.add(href);
  };
  for (const [name, title] of [
    ['Status', 'Status'],
    ['Docs', 'Documentation'],
    ['Paging', 'Paging'],
    ['Markets', 'Market prices you can check'],
  ] as const) {
    await collect();
    await page.getByRole('link', { name, exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
  }
  for (const link of links) expect((await fetch(link, { method: 'HEAD' })).status, link).toBe(200);
  expect(links.size).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});
