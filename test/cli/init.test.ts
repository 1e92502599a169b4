/** `tidemark init`: the workflow and the README have what the recipe needs. */
import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { recipeWith } from '../sources/example-recipe.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from '../tools/run-tool.ts';
import { tidemarkHere as tidemark } from './in-process.ts';

async function repositoryOf(parts: Parameters<typeof recipeWith>[0], host = 'github') {
  const folder = await temporaryFolder();
  const [recipe, made] = [join(folder, 'metals.json'), join(folder, 'made')];
  await writeFile(recipe, JSON.stringify(recipeWith(parts)));
  const words = ['init', made, '--recipe', recipe, '--origin', 'init.test.example/prices', '--host', host];
  const run = await tidemark(words);
  expect(run).toMatchObject({ code: 0, errors: '' });
  const file = host === 'gitlab' ? '.gitlab-ci.yml' : '.github/workflows/publish.yml';
  expect(existsSync(join(made, file))).toBe(true);
  const workflow = await readFile(join(made, file), 'utf8');
  expect(workflow).not.toMatch(/copy it to/i);
  return { output: run.output, workflow: parse(workflow), readme: await readFile(join(made, 'README.md'), 'utf8') };
}

test.each([
  [{ at: ['16:30'], timeZone: 'Europe/Berlin' }, ['40 15 * * *']],
  [{ at: ['06:15', '23:55'] }, ['25 6 * * *', '5 0 * * *']],
  [{ at: ['18:00'], timeZone: 'America/New_York', days: ['fri', 'sat'] }, ['10 23 * * 5,6']],
  [{ at: ['20:00'], timeZone: 'America/New_York', days: ['sat'] }, ['10 1 * * 0']],
  [{ at: ['08:00'], timeZone: 'Asia/Tokyo', days: ['mon', 'tue'] }, ['10 23 * * 0,1']],
  [{ everyMinutes: 15 }, ['*/15 * * * *']],
  [{ everyMinutes: 60 }, ['10 * * * *']],
  [{ everyMinutes: 360 }, ['10 */6 * * *']],
  [{ everyMinutes: 1440 }, ['10 0 * * *']],
])('the schedule %j runs at %j', async (schedule, crons) => {
  const { workflow } = await repositoryOf({ schedule });
  expect(workflow.on.schedule.map(({ cron }: { cron: string }) => cron)).toEqual(crons);
});

test.each(['github', 'cloudflare', 'gitlab'])('secrets and internal hosts are named for %s', async (host) => {
  const origin = 'http://prices:8080';
  const { workflow, readme } = await repositoryOf(
    {
      ...{ url: `${origin}/daily.csv?token=\${MY_TOKEN}`, hosts: [origin] },
      ...{ headers: { 'x-other': `\${OTHER_TOKEN}` }, schedule: { at: ['06:15'] } },
    },
    host,
  );
  const { env } = workflow.jobs?.publish.steps.at(-1) ?? { env: workflow.publish.variables };
  expect(env).toMatchObject({ TIDEMARK_SOURCE_HOSTS: origin });
  for (const name of ['TIDEMARK_SECRET_MY_TOKEN', 'TIDEMARK_SECRET_OTHER_TOKEN']) {
    expect(env[name]).toBe(host === 'gitlab' ? undefined : `\${{ secrets.${name} }}`);
    expect(readme).toContain(name);
  }
  expect(readme).toContain('TIDEMARK_SOURCE_HOSTS');
  if (host === 'gitlab') expect(readme).toContain('`25 6 * * *`');
});

test('without the package, publish.sh changes nothing, and says how to install it', async () => {
  const folder = join(await temporaryFolder(), 'made');
  await tidemark(['init', folder, '--origin', 'init.test.example/prices']);
  const { exitCode, output } = await runTool('bash', [join(folder, 'publish.sh'), '--begin'], { cwd: folder });
  expect([exitCode, output]).toEqual([1, expect.stringContaining('npm ci')]);
  expect(existsSync(join(folder, 'site'))).toBe(false);
});

test('it allows the same install scripts as the package itself', async () => {
  const folder = join(await temporaryFolder(), 'made');
  await tidemark(['init', folder, '--origin', 'init.test.example/prices']);
  const [made, own] = [folder, join(import.meta.dirname, '../..')].map((root) => {
    const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return Object.entries(allowScripts).map(([name, isAllowed]) => [name.replace(/@.*/, ''), isAllowed]);
  });
  expect(made).toEqual(own);
});

test('of a list it says that a job does not notice what vanishes, and of nothing else', async () => {
  const shipped = async (recipe: string) => {
    const folder = join(await temporaryFolder(), 'made');
    const { output } = await tidemark(['init', folder, '--recipe', recipe, '--origin', 'init.test.example/prices']);
    return [output, await readFile(join(folder, 'README.md'), 'utf8')].map((text) => text.includes('vanishes'));
  };
  expect([await shipped('litellm'), await shipped('ecb-daily')]).toEqual([
    [true, true],
    [false, false],
  ]);
});

test('without a recipe, it has a folder for files, and publishes when they are pushed', async () => {
  for (const host of ['github', 'cloudflare', 'gitlab']) {
    const folder = join(await temporaryFolder(), 'made');
    const run = await tidemark(['init', folder, '--origin', 'init.test.example/prices', '--host', host]);
    expect(run).toMatchObject({ code: 0, errors: '' });
    expect([existsSync(join(folder, 'files')), existsSync(join(folder, 'sources'))]).toEqual([true, false]);
    const workflow = await readFile(
      join(folder, host === 'gitlab' ? '.gitlab-ci.yml' : '.github/workflows/publish.yml'),
    );
    expect(workflow.toString()).toContain('files/**');
    expect(await readFile(join(folder, 'README.md'), 'utf8')).toContain('prices.mapping.jsonc');
    expect(await readFile(join(folder, 'publish.sh'), 'utf8')).toContain('https://init.test.example/prices}');
  }
});
