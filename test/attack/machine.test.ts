/** Attack: other users of the machine, and of its network. */
import { chmodSync, chownSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isLoopback } from '../../lambdas/http/network.ts';
import { LEDGER_FILE, openDataFolder } from '../../server/folder/data-folder.ts';
import { StartError } from '../../server/service/start-error.ts';
import { readSecretFile } from '../../server/settings/secret-files.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const NOBODY = 65_534;

/** Changes of a path by another user of the machine. */
const DEEDS: readonly [string, (path: string) => void][] = [
  ['that its group may write', (path) => chmodSync(path, 0o770)],
  ['that all may write', (path) => chmodSync(path, 0o702)],
  ['of another user', (path) => chownSync(path, NOBODY, NOBODY)],
];

const LINK: (typeof DEEDS)[number] = [
  'that is a link',
  (path) => {
    renameSync(path, `${path}.moved`);
    symlinkSync(`${path}.moved`, path);
  },
];

/** Only root can give a file away. */
const isPossible = ([name]: (typeof DEEDS)[number]) => name !== 'of another user' || process.getuid?.() === 0;

test.for(DEEDS)('a data folder %s is refused', async (deed, { skip }) => {
  if (!isPossible(deed)) skip('only root can give a folder away');
  const folder = join(await temporaryFolder(), 'data');
  mkdirSync(folder, { mode: 0o700 });
  deed[1](folder);
  await expect(openDataFolder(folder)).rejects.toThrow(StartError);
});

test.for([...DEEDS, LINK])('a ledger %s is refused', async (deed, { skip }) => {
  if (!isPossible(deed)) skip('only root can give a file away');
  const folder = join(await temporaryFolder(), 'data');
  (await openDataFolder(folder)).close();
  deed[1](join(folder, LEDGER_FILE));
  await expect(openDataFolder(folder)).rejects.toThrow(StartError);
});

test.for(
  (['operator-key', 'issuer-key', 'secret'] as const).flatMap((name) =>
    [...DEEDS, LINK].map((deed) => ({ name, deed })),
  ),
)('the file $name $deed.0 is refused', async ({ name, deed }, { skip }) => {
  if (!isPossible(deed)) skip('only root can give a file away');
  const folder = await temporaryFolder();
  writeFileSync(join(folder, name), 'tdm_dev_x', { mode: 0o600 });
  expect(readSecretFile(folder, name)).toBe('tdm_dev_x');
  deed[1](join(folder, name));
  expect(() => readSecretFile(folder, name)).toThrow(StartError);
});

test.each([
  ['127.0.0.1', true],
  ['127.8.0.1', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['127.example.com', false],
  ['192.0.2.1', false],
])('a server on %s is for this machine only: %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
