import { expect, test } from 'vitest';
import { PROJECTIONS } from '../../contract/files/projections.ts';
import { misspeltSettings } from '../../server/settings/settings-help.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

test.each([
  ['TIDEMARK_SAMPEL', 'TIDEMARK_SAMPLE'],
  ['TIDEMARK_VERIFY_EVERY_HOURS', 'TIDEMARK_VERIFY_HOURS'],
])('%s is taken for %s', (variable, meant) => {
  expect(misspeltSettings({ [variable]: 'x' })).toEqual([expect.stringContaining(`Did you mean ${meant}?`)]);
});

test('the variables of others are left alone', () => {
  expect(misspeltSettings({ PATH: '', TIDEMARK_: '', TIDEMARK_API_KEY: '', TIDEMARK_KEY: '', PROJECTION: '' })).toEqual(
    [],
  );
});

test('the help of start names every projection, and no setting that is a misspelt one', async () => {
  const { output } = await tidemark(['start', '--help']);
  const names = output.match(/TIDEMARK_[A-Z_]+/g) ?? [];
  expect(names.length).toBeGreaterThan(15);
  expect(misspeltSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual([]);
  const shown = /TIDEMARK_PROJECTIONS=[\s\S]*?(?=\n {2}TIDEMARK_)/.exec(output)?.[0];
  for (const projection of PROJECTIONS) expect(shown).toContain(projection);
});

test('a run does its work all the same, and says it once, as a server does in main.test.ts', async () => {
  const environment = { TIDEMARK_DATA: await temporaryFolder(), TIDEMARK_PROJECTION: 'x' };
  const { code, errors } = await tidemark(['run', '--unsigned'], { environment });
  expect([code, errors.split('Did you mean TIDEMARK_PROJECTIONS?').length]).toEqual([0, 2]);
});
