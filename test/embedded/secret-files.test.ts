/** What a data folder keeps secret: made once, whole, and its owner's alone. */
import fs, { fstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { StartError } from '../../embedded/config.ts';
import { keepSecretFile, readSecretFile } from '../../embedded/secret-files.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const isWhole = (text: string) => text.startsWith('made');

test('a secret is made once, and read from then on', async () => {
  const folder = await temporaryFolder();
  let made = 0;
  const keep = () => keepSecretFile(folder, 'secret', () => `made ${++made}`, isWhole);
  expect([keep(), keep(), readSecretFile(folder, 'secret')]).toEqual(['made 1', 'made 1', 'made 1']);
  expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600);
});

test('a secret is on disk with all of its bytes before it has its name, and its name before it is used', async () => {
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
  // Such a spy is seen by who imports the function by its name only after this.
  syncBuiltinESMExports();
  keepSecretFile(folder, 'secret', () => 'made', isWhole);
  expect(done).toEqual([
    ['file', 'made\n'.length],
    ['named', join(folder, 'secret')],
    ['folder', ['secret']],
  ]);
});

test.each(['', '\n', 'something else'])(
  'a file that holds %j is not taken for a secret, and not replaced',
  async (text) => {
    const folder = await temporaryFolder();
    writeFileSync(join(folder, 'secret'), text);
    expect(() => keepSecretFile(folder, 'secret', () => 'made', isWhole)).toThrow(StartError);
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe(text);
  },
);

test('a link that lies there is not written through', async () => {
  const folder = await temporaryFolder();
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'secret'));
  expect(() => keepSecretFile(folder, 'secret', () => 'made', isWhole)).toThrow(StartError);
  expect(readSecretFile(folder, 'secret')).toBeNull();
});

test('a folder that cannot be written says so', () => {
  expect(() => keepSecretFile('/proc', 'secret', () => 'made', isWhole)).toThrow(StartError);
});
