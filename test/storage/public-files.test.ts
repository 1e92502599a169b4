/** Public objects as files: a removed market is a file beside the place of its body. */
import { beforeEach, describe, expect, test } from 'vitest';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { publicFiles } from '../../storage/s3/public-files.ts';
import { openMemoryObjects } from './memory-objects.ts';
import { bytes, etagOf, metadataOf } from './object-store-contract.ts';

const KEY = 'public/api/v1/markets/gold.json';
const [BODY, GONE] = ['api/v1/markets/gold.json', 'api/v1/markets/gold.gone.json'];
const problem = (generation: number) => ({ ...metadataOf(generation), contentType: PROBLEM_CONTENT_TYPE });
const absent = { kind: 'absent' } as const;

describe('a market', () => {
  let files: ObjectStore;
  let objects: ObjectStore;
  const paths = async () => (await files.list('')).keys;
  beforeEach(() => {
    files = openMemoryObjects();
    objects = publicFiles(files);
  });

  test('is removed and comes back at one key, and each moment shows one of its bodies', async () => {
    const body = etagOf(await objects.put(KEY, bytes('body'), metadataOf(1), absent));
    expect(await paths()).toEqual([BODY]);
    const gone = etagOf(await objects.put(KEY, bytes('gone'), problem(2), { kind: 'matches', etag: body }));
    expect([await paths(), (await objects.stat(KEY))?.etag]).toEqual([[GONE], gone]);
    expect(await objects.list('public/')).toEqual({ keys: [KEY], next: null });
    expect(await objects.put(KEY, bytes('body'), metadataOf(3), absent)).toEqual({ kind: 'refused' });
    const again = etagOf(await objects.put(KEY, bytes('body'), metadataOf(3), { kind: 'matches', etag: gone }));
    expect([await paths(), await objects.get(KEY)]).toMatchObject([[BODY], { metadata: { generation: 3 } }]);
    expect([await objects.delete(KEY, gone), await objects.delete(KEY, again)]).toEqual(['refused', 'deleted']);
    expect([await paths(), await objects.get(KEY)]).toEqual([[], { kind: 'absent' }]);
  });

  test('is refused a removal that was late, and one that died is done again', async () => {
    const first = etagOf(await objects.put(KEY, bytes('one'), metadataOf(1), absent));
    const second = etagOf(await objects.put(KEY, bytes('two'), metadataOf(2), { kind: 'matches', etag: first }));
    expect(await objects.put(KEY, bytes('gone'), problem(2), { kind: 'matches', etag: first })).toEqual({
      kind: 'refused',
    });
    await files.put(GONE, bytes('half'), problem(3), absent);
    expect([(await objects.stat(KEY))?.etag, (await objects.list('public/')).keys]).toEqual([second, [KEY]]);
    await objects.put(KEY, bytes('gone'), problem(3), { kind: 'matches', etag: second });
    expect(await paths()).toEqual([GONE]);
  });

  test('is listed without the files of others', async () => {
    await objects.put(KEY, bytes('body'), metadataOf(1), absent);
    for (const path of ['notes.md', '_tidemark-lease', 'api/v1/other.json']) {
      await files.put(path, bytes('x'), metadataOf(0), absent);
    }
    expect((await objects.list('public/')).keys).toEqual([KEY]);
  });
});
