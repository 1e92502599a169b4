/** The folder of a mirror belongs to one service and to one process. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMirrorFolder } from '../../../server/mirror/mirror-folder.ts';
import { StartError } from '../../../server/service/start-error.ts';
import { temporaryFolder } from '../../storage/temporary-folder.ts';

const SERVICE = new URL('https://data.example/');

test('its state is kept', async () => {
  const path = join(await temporaryFolder(), 'new', 'mirror');
  const first = await openMirrorFolder(path, SERVICE);
  first.state = { ...first.state, lastSuccessAt: '2026-11-22T10:00:00.000Z', unreached: { 'public/a': 5 } };
  first.save();
  first.close();
  const second = await openMirrorFolder(path, SERVICE);
  expect(second.state).toEqual(first.state);
  second.close();
});

test('a state of an earlier version is read', async () => {
  const path = await temporaryFolder();
  const log = { vkeys: ['key'], checkpoint: null, bodiesAt: 7 };
  await writeFile(
    join(path, 'mirror.json'),
    JSON.stringify({ format: 1, url: SERVICE.href, lastSuccessAt: null, log }),
  );
  const folder = await openMirrorFolder(path, SERVICE);
  expect(folder.state.log).toMatchObject({ vkeys: ['key'] });
  folder.close();
});

test('it is in use by one process', async () => {
  const path = await temporaryFolder();
  const first = await openMirrorFolder(path, SERVICE);
  await expect(openMirrorFolder(path, SERVICE)).rejects.toThrow(StartError);
  first.close();
  (await openMirrorFolder(path, SERVICE)).close();
});

test('another service gets another folder', async () => {
  const path = await temporaryFolder();
  (await openMirrorFolder(path, SERVICE)).close();
  await expect(openMirrorFolder(path, new URL('https://other.example/'))).rejects.toThrow(StartError);
  (await openMirrorFolder(path, SERVICE)).close();
});

test.each(['', '{}', '{"format":2}', 'null'])('a state that is %j is refused, and nothing is lost', async (text) => {
  const path = await temporaryFolder();
  await writeFile(join(path, 'mirror.json'), text);
  await expect(openMirrorFolder(path, SERVICE)).rejects.toThrow(StartError);
});

test('a data folder is refused', async () => {
  const path = await temporaryFolder();
  await mkdir(join(path, 'objects'));
  await expect(openMirrorFolder(path, SERVICE)).rejects.toThrow(StartError);
});

test('a file is refused', async () => {
  const path = join(await temporaryFolder(), 'file');
  await writeFile(path, '');
  await expect(openMirrorFolder(path, SERVICE)).rejects.toThrow(StartError);
});
