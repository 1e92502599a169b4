/** Files of earlier versions, with a header each, become plain files in place; a move that was interrupted continues. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { bodyDigest } from '../../storage/ports/object-rules.ts';
import { bytes, metadataOf } from './object-store-contract.ts';
import { temporaryFolder } from './temporary-folder.ts';

const SMALL = 'public/api/v1/markets/gold-usd.json';
const LARGE = 'public/api/v1/markets.json';
const GONE = 'public/api/v1/markets/silver-usd.json';
const INTERNAL = 'layout/7-ab.json.zst';
const DAMAGED = 'public/api/v1/snapshot.json';
const TEXTS: Readonly<Record<string, string>> = {
  [SMALL]: '{"slug":"gold-usd"}',
  [LARGE]: `{"data":[${'1,'.repeat(4_000)}1]}`,
  [GONE]: '{"status":410}',
  [INTERNAL]: 'a layout',
  [DAMAGED]: '{"generation":7}',
};

const metadataAt = (key: string) => ({
  ...metadataOf(7, key === LARGE ? '7-0123' : null),
  contentType: key === GONE ? 'application/problem+json' : 'application/json',
});

const oldPath = (folder: string, key: string) => join(folder, 'objects', 'objects', `${key}+object`);

/** As the versions before wrote them. */
async function oldFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'objects', 'tmp'), { recursive: true });
  for (const [key, text] of Object.entries(TEXTS)) {
    const [body, frame] = [bytes(text), key === LARGE ? zstdCompressSync(text) : null];
    const header = {
      ...{ version: frame === null ? 1 : 2, key, ...metadataAt(key), sizeBytes: body.length },
      ...(frame === null ? {} : { frameBytes: frame.length }),
      sha256: bodyDigest(key === DAMAGED ? bytes('other') : body),
    };
    await mkdir(dirname(oldPath(folder, key)), { recursive: true });
    await writeFile(oldPath(folder, key), Buffer.concat([bytes(`${JSON.stringify(header)}\n`), frame ?? body]));
  }
  return folder;
}

async function expectMoved(folder: string): Promise<void> {
  const objects = await openDirectoryObjects(folder);
  for (const [key, text] of Object.entries(TEXTS)) {
    const found = await objects.get(key);
    // A damaged one is lost: the publisher puts it again.
    if (key === DAMAGED) expect(found).toEqual({ kind: 'absent' });
    else expect(found).toMatchObject({ kind: 'found', body: Buffer.from(text), metadata: metadataAt(key) });
  }
  expect(await readFile(join(folder, LARGE), 'utf8')).toBe(TEXTS[LARGE]);
  expect(await readdir(join(folder, 'public/api/v1/markets'))).toEqual(['gold-usd.json', 'silver-usd.gone.json']);
  expect(existsSync(join(folder, 'objects'))).toBe(false);
}

test('each object is moved with its metadata', async () => {
  await expectMoved(await oldFolder());
});

test.each(Object.keys(TEXTS))('a move that was interrupted while %s was moved continues', async (key) => {
  const [folder, copy] = [await oldFolder(), join(await temporaryFolder(), 'copy')];
  await copyFile(oldPath(folder, key), copy);
  await openDirectoryObjects(folder);
  // The plain file is there, and the old one is not deleted yet. Others were not moved yet.
  await mkdir(dirname(oldPath(folder, key)), { recursive: true });
  await copyFile(copy, oldPath(folder, key));
  await expectMoved(folder);
});
