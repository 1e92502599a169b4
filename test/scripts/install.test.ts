/** The installation before `npm start` and `npm test`. A fresh clone is installed by test/slow/fresh-clone. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';

test('removes nothing through a link to the modules of another clone', async () => {
  const folder = await temporaryFolder();
  const [clone, other] = [join(folder, 'clone'), join(folder, 'other')];
  for (const each of [join(clone, 'tools'), other]) mkdirSync(each, { recursive: true });
  const script = join(clone, 'tools/install.mjs');
  copyFileSync(join(import.meta.dirname, '../../tools/install.mjs'), script);
  writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}');
  writeFileSync(join(other, 'module.js'), '');
  symlinkSync(other, join(clone, 'node_modules'));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('is a link');
  expect(existsSync(join(other, 'module.js'))).toBe(true);
});
