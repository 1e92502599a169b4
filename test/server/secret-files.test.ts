/** The secrets of a data folder: made once, complete, and readable for the owner only. */
import fs, { fstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StartError } from '../../server/service/start-error.ts';
import { keepSecretFile, readSecretFile } from '../../server/settings/secret-files.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const isWhole = (text: string) => text.startsWith('made');

test('all bytes of a secret are on disk before its name, and its name is on disk before its use', async () => {
  const folder = await temporaryFolder();
  const done: unknown[] = [];
  const { fsyncSync, linkSync } = fs;
  vi.spyOn(fs, 'fsyncSync').mockImplementation((descriptor) => {
    fsyncSync(descriptor);
    const stats = fstatSync(descriptor);
    done.push(stats.isDirectory() ? ['folder', readdirSync(folder)] : ['file', stats.size]);
  });
  vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
    linkSync(from, to);
    done.push(['named', to]);
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  // Modules that import the function by name see the spy only if they are loaded after this.
  syncBuiltinESMExports();
  keepSecretFile(folder, 'secret', () => 'made', isWhole);
  expect(done).toEqual([
    ['file', 'made\n'.length],
    ['named', join(folder, 'secret')],
    ['folder', ['secret']],
  ]);
});

test.each(['', '\n', 'something else'])('a file with %j is not used as a secret, and not replaced', async (text) => {
  const folder = await temporaryFolder();
  writeFileSync(join(folder, 'secret'), text);
  expect(() => keepSecretFile(folder, 'secret', () => 'made', isWhole)).toThrow(StartError);
  expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe(text);
});

test('an existing link is not followed', async () => {
  const folder = await temporaryFolder();
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'secret'));
  expect(() => keepSecretFile(folder, 'secret', () => 'made', isWhole)).toThrow(StartError);
  writeFileSync(join(folder, 'elsewhere'), 'made by somebody else');
  expect(() => readSecretFile(folder, 'secret')).toThrow(StartError);
});
