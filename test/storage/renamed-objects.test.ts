/** A folder of a version that gave other keys to public objects. */
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { currentKey } from '../../contract/files/old-paths.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { moveRenamed } from '../../storage/directory/move-renamed.ts';
import { ObjectIndex } from '../../storage/directory/object-index.ts';
import { indexPath } from '../../storage/directory/object-places.ts';
import type { ObjectMetadata, ObjectStore } from '../../storage/ports/object-store.ts';
import { supersededPage, supersededPageKey } from '../../storage/records/publication.ts';
import { temporaryFolder } from './temporary-folder.ts';

const CURSOR = `7-${'0a'.repeat(16)}`;

const KEYS: readonly (readonly [string, string])[] = [
  ['api/v1/histories/gold-usd.json', 'api/v1/markets/gold-usd/history.json'],
  ['api/v1/histories/pages.json', 'api/v1/markets/pages/history.json'],
  [`api/v1/market-pages/${CURSOR}.json`, `api/v1/markets/pages/${CURSOR}.json`],
  [`api/v1/history-pages/pages/${CURSOR}.json`, `api/v1/markets/pages/history/pages/${CURSOR}.json`],
  ['api/v1/markets/gold-usd/history/index', 'api/v1/markets/gold-usd/history/index.json'],
  ['api/v1/latest', 'api/v1/latest.json'],
  ['api/v1/recent', 'api/v1/recent.json'],
  ['api/v1/exports/latest', 'api/v1/exports/latest.json'],
  ['site/index.html', 'index.html'],
  ['site/docs/guides/caching.html', 'docs/guides/caching.html'],
  ['site/assets/site.css', 'assets/site.css'],
];
const KEPT = ['api/v1/markets.json', 'api/v1/markets/pages.json', 'api/v1/latest.csv', 'api/v1/log/checkpoint'];

describe('a key of an earlier version', () => {
  test.each(KEYS)('%s is %s today, and no key of today', (old, today) => {
    expect(currentKey(`public/${old}`)).toBe(`public/${today}`);
    expect(parsePublicKey(`public/${old}`)).toBeNull();
    expect(parsePublicKey(`public/${today}`)).not.toBeNull();
    expect(currentKey(`public/${today}`)).toBe(`public/${today}`);
  });

  test.each([...KEPT, 'api/v1/editions/q3/markets/a.json', 'other'])('%s stays as it is', (key) => {
    expect(currentKey(`public/${key}`)).toBe(`public/${key}`);
    expect(currentKey(key)).toBe(key);
  });

  test('names the record of a superseded page for ever', () => {
    const [old, today] = ['history-pages/gold-usd', 'markets/gold-usd/history/pages'].map(
      (folder) => `public/api/v1/${folder}/${CURSOR}.json`,
    ) as [string, string];
    expect(supersededPageKey(today)).toEqual(supersededPageKey(old));
    expect(supersededPageKey(today).sort).toBe(old);
    expect(supersededPage({ sort: old })).toBe(today);
  });
});

const GONE = 'api/v1/histories/silver-usd.json';
const bytes = (text: string) => Buffer.from(text);

function metadataOf(path: string, generation: number): ObjectMetadata {
  const contentType = path === GONE ? 'application/problem+json' : 'application/json';
  return { contentType, cacheControl: 'public', cacheTag: null, generation, nextCursor: null };
}

/** @returns what must be there afterwards */
async function oldFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const objects = await openDirectoryObjects(folder);
  const paths = [...KEYS.map(([old]) => old), ...KEPT, GONE];
  for (const [generation, path] of paths.entries()) {
    await objects.put(`public/${path}`, bytes(path), metadataOf(path, generation), { kind: 'absent' });
  }
  const index = new DatabaseSync(indexPath(folder));
  index.exec('PRAGMA user_version = 1');
  index.close();
  return new Map(paths.map((path) => [currentKey(`public/${path}`), path]));
}

async function contentsOf(objects: ObjectStore): Promise<ReadonlyMap<string, unknown>> {
  const { keys } = await objects.list('public/');
  return new Map(
    await Promise.all(
      keys.map(async (key) => {
        const found = await objects.get(key);
        return [key, found.kind === 'found' && [found.body.toString(), found.metadata.generation]] as const;
      }),
    ),
  );
}

describe('a folder of an earlier version', () => {
  const expectedOf = (paths: ReadonlyMap<string, string>) =>
    new Map([...paths].map(([key, path], generation) => [key, [path, generation]]));

  test('is moved over at the start, with bytes and generations', async () => {
    const folder = await temporaryFolder();
    const expected = expectedOf(await oldFolder(folder));
    const moved: number[] = [];
    const objects = await openDirectoryObjects(folder, (count) => moved.push(count));
    expect(await contentsOf(objects)).toEqual(expected);
    expect(moved.at(-1)).toBe(KEYS.length + 1);
    const left = await readdir(join(folder, 'public/api/v1'));
    expect(left.sort()).toEqual([
      'exports',
      'latest.csv',
      'latest.json',
      'log',
      'markets',
      'markets.json',
      'recent.json',
    ]);
    expect(existsSync(join(folder, 'public/site'))).toBe(false);
    expect(existsSync(join(folder, 'public/api/v1/markets/silver-usd/history.gone.json'))).toBe(true);
    const again: number[] = [];
    await openDirectoryObjects(folder, (count) => again.push(count));
    expect(again).toEqual([]);
  });

  test('is moved over by its files if the index is lost, too', async () => {
    const folder = await temporaryFolder();
    const paths = await oldFolder(folder);
    for (const suffix of ['', '-wal', '-shm']) await rm(indexPath(folder) + suffix, { force: true });
    const found = await contentsOf(await openDirectoryObjects(folder));
    expect([...found].map(([key, value]) => [key, (value as [string])[0]])).toEqual([...paths].sort());
  });

  test('keeps a file of somebody else', async () => {
    const folder = await temporaryFolder();
    await oldFolder(folder);
    await writeFile(join(folder, 'public/site/own.html'), 'mine');
    await openDirectoryObjects(folder);
    expect(await readdir(join(folder, 'public/site'))).toEqual(['own.html']);
  });

  test('property: a move that is interrupted anywhere continues', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 45 }), { maxLength: 3 }), async (interruptions) => {
        const folder = await temporaryFolder();
        const expected = expectedOf(await oldFolder(folder));
        for (const steps of interruptions) {
          const index = new ObjectIndex(indexPath(folder));
          await moveRenamed(folder, failingAfter(index, steps), () => undefined).catch(() => undefined);
          await index.close();
        }
        expect(await contentsOf(await openDirectoryObjects(folder))).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });
});

/** An index that fails at its change with this number. */
function failingAfter(index: ObjectIndex, steps: number): ObjectIndex {
  let left = steps;
  return new Proxy(index, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      return (...values: unknown[]) => {
        if (['put', 'delete', 'sync', 'markCurrent'].includes(String(name)) && left-- === 0) throw new Error('killed');
        return Reflect.apply(member, target, values);
      };
    },
  });
}
