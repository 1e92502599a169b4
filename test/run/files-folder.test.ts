/** `--files`: CSV files with their mappings beside them are the whole input. And markets that a run removes. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mappingOf } from './files-mapping.ts';
import { codeOf, filesIn, openRunWorld, verify } from './run-world.ts';

/** A service whose ledger begins from its log in each run. */
async function serviceOfFiles() {
  const world = await openRunWorld();
  const files = join(world.folder, 'files');
  await mkdir(files);
  await writeFile(join(files, 'README.md'), 'Not data.');
  const put = async (slug: string, ...rows: readonly string[]) => {
    await writeFile(join(files, `${slug}.csv`), ['date,price', ...rows, ''].join('\n'));
    await writeFile(join(files, `${slug}.mapping.jsonc`), JSON.stringify(mappingOf(slug)));
  };
  const run = async (...words: readonly string[]) => {
    await rm(world.data, { recursive: true, force: true });
    return await world.run(['--files', files, '--mode', 'correct', '--to', world.target, '--from-log', ...words]);
  };
  const bodyOf = async (slug: string) =>
    JSON.parse(await readFile(join(world.target, `api/v1/markets/${slug}.json`), 'utf8'));
  return { ...world, files, put, run, bodyOf };
}

test('each file is read by its own mapping; a changed row is a correction; unchanged files change no public file', async () => {
  const { files, put, run, bodyOf, target } = await serviceOfFiles();
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.10');
  await put('oats', '2026-01-01,2.00');
  expect(await run()).toMatchObject({ code: 0, report: { markets: 2, observations: 3 } });
  const before = await filesIn(target);
  expect(await run()).toMatchObject({ code: codeOf('unchanged') });
  expect(await filesIn(target)).toEqual(before);
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.20', '2026-01-03,5.30');
  expect(await run()).toMatchObject({ code: 0, report: { markets: 2, observations: 5 } });
  expect(await bodyOf('tea')).toMatchObject({ metrics: { price: { amountMinor: 530 } } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  await rm(join(files, 'oats.mapping.jsonc'));
  expect(await run()).toMatchObject({ code: codeOf('usage'), errors: expect.stringContaining('oats.mapping.jsonc') });
});

test('a run removes a market for good, with the reason; the next runs keep it removed', async () => {
  const { files, put, run, target } = await serviceOfFiles();
  await put('tea', '2026-01-01,5.00');
  await put('oats', '2026-01-01,2.00');
  expect(await run()).toMatchObject({ code: 0 });
  const removal = ['--remove', 'oats', '--public-reason', 'It was an example.', '--replaced-by', 'tea'];
  await rm(join(files, 'oats.csv'));
  await rm(join(files, 'oats.mapping.jsonc'));
  expect(await run('--remove', 'oats')).toMatchObject({ code: codeOf('usage') });
  expect(await run(...removal)).toMatchObject({ code: 0, report: { markets: 1 } });
  const gone = JSON.parse(await readFile(join(target, 'api/v1/markets/oats.gone.json'), 'utf8'));
  expect(gone).toMatchObject({ reason: 'It was an example.', replacedBy: 'tea' });
  expect(await run(...removal)).toMatchObject({ code: codeOf('unchanged'), report: { markets: 1 } });
  expect(await run()).toMatchObject({ code: codeOf('unchanged'), report: { markets: 1 } });
  await put('oats', '2026-01-01,2.00');
  expect(await run()).toMatchObject({ code: codeOf('set-aside'), report: { markets: 1 } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});
