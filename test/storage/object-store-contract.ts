/** Every promise of the `ObjectStore` port, one sentence a row. Any adapter must pass. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ETag, ObjectMetadata, ObjectStore, PutResult } from '../../storage/ports/object-store.ts';

export interface OpenObjectStore {
  /** Empty. */
  readonly objects: ObjectStore;
  close(): Promise<void>;
  /** Opens the store again, as another process would. A store in memory is returned unchanged. */
  reopen(): Promise<ObjectStore>;
}

const KEY = 'heads/market.json';
const RACERS = Array.from({ length: 20 }, (_, racer) => racer);

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const metadataOf = (generation: number, nextCursor: string | null = null): ObjectMetadata => ({
  contentType: 'application/json',
  cacheControl: 'public, max-age=15',
  cacheTag: 'markets',
  generation,
  nextCursor,
});

export function objectStoreContract(name: string, open: () => Promise<OpenObjectStore>): void {
  describe(`${name} keeps the promises of an object store`, () => {
    let opened: OpenObjectStore;
    let objects: ObjectStore;

    beforeEach(async () => {
      opened = await open();
      objects = opened.objects;
    });
    afterEach(() => opened.close());

    const create = (key: string, text: string, generation = 1) =>
      objects.put(key, bytes(text), metadataOf(generation), { kind: 'absent' });
    const created = async (key: string, text: string, generation = 1) => etagOf(await create(key, text, generation));
    const swap = (key: string, text: string, etag: ETag, generation = 2) =>
      objects.put(key, bytes(text), metadataOf(generation), { kind: 'matches', etag });
    const textOf = async (key: string) => {
      const found = await objects.get(key);
      return found.kind === 'found' ? new TextDecoder().decode(found.body) : found.kind;
    };

    test('tells the ETag of bytes as a put gives it, if it tells', async () => {
      const etag = await created(KEY, 'one');
      expect(objects.etagOf?.(bytes('one')) ?? etag).toBe(etag);
    });

    test('gives an object back with its bytes and all its metadata', async () => {
      const body = Uint8Array.from({ length: 70_000 }, (_, index) => index % 251);
      const metadata: ObjectMetadata = {
        contentType: 'application/json',
        cacheControl: 'public, max-age=15, stale-if-error=300',
        cacheTag: null,
        generation: 42,
        nextCursor: '42-0123456789abcdef0123456789abcdef',
      };
      const etag = etagOf(await objects.put(KEY, body, metadata, { kind: 'absent' }));
      const { body: stored, ...head } = found(await objects.get(KEY));
      expect([Buffer.compare(stored, body), head]).toEqual([0, { kind: 'found', etag, sizeBytes: 70_000, metadata }]);
      expect(await objects.stat(KEY)).toEqual({ etag, sizeBytes: 70_000, metadata });
    });

    test('reports an unknown key as absent', async () => {
      expect([await objects.get(KEY), await objects.stat(KEY)]).toEqual([{ kind: 'absent' }, null]);
    });

    test('answers not-modified while the reader has the current ETag, and the object otherwise', async () => {
      const etag = await created(KEY, 'one');
      expect(await objects.get(KEY, { ifNoneMatch: etag })).toEqual({ kind: 'not-modified' });
      await swap(KEY, 'two', etag);
      expect(await objects.get(KEY, { ifNoneMatch: etag })).toMatchObject({ kind: 'found', sizeBytes: 3 });
    });

    test('gives the same bytes the same ETag, as a quoted string, and other bytes another', async () => {
      const first = await created(KEY, 'same');
      const other = etagOf(await swap(KEY, 'other', first));
      const again = etagOf(await swap(KEY, 'same', other, 3));
      expect(first).toMatch(/^"[^"]+"$/);
      expect([again === first, other === first]).toEqual([true, false]);
    });

    test('creates only absent objects', async () => {
      await create(KEY, 'one');
      expect(await create(KEY, 'two')).toEqual({ kind: 'refused' });
      expect(await textOf(KEY)).toBe('one');
    });

    test('swaps only an object with the ETag, and never an absent one', async () => {
      const first = await created(KEY, 'one');
      const second = etagOf(await swap(KEY, 'two', first));
      expect(await swap(KEY, 'three', first, 3)).toEqual({ kind: 'refused' });
      expect(await swap('heads/none.json', 'three', second, 3)).toEqual({ kind: 'refused' });
      expect([await textOf(KEY), await textOf('heads/none.json')]).toEqual(['two', 'absent']);
    });

    test('replaces the metadata together with the bytes', async () => {
      const etag = await created(KEY, 'one');
      await objects.put(KEY, bytes('two'), metadataOf(9, 'next'), { kind: 'matches', etag });
      expect((await objects.stat(KEY))?.metadata).toEqual(metadataOf(9, 'next'));
    });

    test('stores exactly one of 20 simultaneous creations', async () => {
      const results = await Promise.all(RACERS.map((racer) => create(KEY, `racer ${racer}`)));
      const winners = RACERS.filter((racer) => results[racer]?.kind === 'stored');
      expect(winners).toHaveLength(1);
      expect(await textOf(KEY)).toBe(`racer ${winners[0]}`);
    });

    test('stores exactly one of 20 simultaneous swaps of the same object', async () => {
      const etag = await created(KEY, 'start');
      const results = await Promise.all(RACERS.map((racer) => swap(KEY, `racer ${racer}`, etag)));
      const winners = RACERS.filter((racer) => results[racer]?.kind === 'stored');
      expect(winners).toHaveLength(1);
      expect(await textOf(KEY)).toBe(`racer ${winners[0]}`);
    });

    test('lets either the deletion or the swap of one ETag happen, never both', async () => {
      for (let round = 0; round < 20; round++) {
        const key = `heads/round-${round}.json`;
        const etag = await created(key, 'start');
        const deletion = round % 2 ? objects.delete(key, etag) : undefined;
        const [swapped, deleted] = await Promise.all([
          swap(key, 'swapped', etag),
          deletion ?? objects.delete(key, etag),
        ]);
        expect([`${swapped.kind} ${deleted}`, await textOf(key)]).toEqual(
          swapped.kind === 'stored' ? ['stored refused', 'swapped'] : ['refused deleted', 'absent'],
        );
      }
    });

    test('never shows a torn object while it is being swapped', async () => {
      const GENERATIONS = 40;
      const bodyOf = (generation: number) => String(generation % 10).repeat(100_000 + generation);
      let etag = await created(KEY, bodyOf(1));
      let isDone = false;
      const read = async () => {
        let newest = 0;
        while (!isDone) {
          const { body, sizeBytes, metadata } = found(await objects.get(KEY));
          const text = new TextDecoder().decode(body);
          expect([sizeBytes, text === bodyOf(metadata.generation)]).toEqual([body.length, true]);
          expect(metadata.generation).toBeGreaterThanOrEqual(newest);
          newest = metadata.generation;
          await new Promise(setImmediate);
        }
      };
      const readers = [read(), read(), read()];
      for (let generation = 2; generation <= GENERATIONS; generation++) {
        etag = etagOf(await swap(KEY, bodyOf(generation), etag, generation));
      }
      isDone = true;
      await Promise.all(readers);
    });

    test('deletes only what still has the ETag', async () => {
      const first = await created(KEY, 'one');
      const second = etagOf(await swap(KEY, 'two', first));
      expect([await objects.delete(KEY, first), await textOf(KEY)]).toEqual(['refused', 'two']);
      expect([await objects.delete(KEY, second), await textOf(KEY)]).toEqual(['deleted', 'absent']);
      expect((await objects.list('')).keys).toEqual([]);
    });

    test('counts an absent object as deleted', async () => {
      const etag = await created(KEY, 'one');
      await objects.delete(KEY, etag);
      expect([await objects.delete(KEY, etag), await objects.delete('never/was.json', etag)]).toEqual([
        'deleted',
        'deleted',
      ]);
    });

    test('creates a deleted object again', async () => {
      await objects.delete(KEY, await created(KEY, 'one'));
      expect(await create(KEY, 'two', 2)).toMatchObject({ kind: 'stored' });
      expect(await textOf(KEY)).toBe('two');
    });

    const ORDERED = ['a', 'a-b/c', 'a.json', 'a/b', 'a/b.json', 'a/b/c', 'a0', 'a@1/b', 'aa/b', 'b/a', 'b_'];
    test.each([
      ['', ORDERED],
      ['a', ORDERED.slice(0, 9)],
      ['a/', ['a/b', 'a/b.json', 'a/b/c']],
      ['a/b', ['a/b', 'a/b.json', 'a/b/c']],
      ['a/b/', ['a/b/c']],
      ['a.', ['a.json']],
      ['c/', []],
      ['a/b/c/d', []],
    ])('lists the keys that begin with "%s" in order of their bytes, from any key on', async (prefix, expected) => {
      for (const key of ORDERED.toReversed()) await create(key, key);
      expect(await objects.list(prefix)).toEqual({ keys: expected, next: null });
      for (const after of [...ORDERED, '0', 'a/', 'a/a', 'a/z', 'zz']) {
        const rest = expected.filter((key) => key > after);
        expect(await objects.list(prefix, { after })).toEqual({ keys: rest, next: null });
      }
    });

    test('lists 1,000 keys a page, every key once, and ends with a page that is exactly full', async () => {
      const keys = Array.from(
        { length: 2000 },
        (_, index) => `many/${index % 7}/${String(index).padStart(4, '0')}.json`,
      );
      await Promise.all(keys.map((key) => create(key, 'x')));
      const listed: string[] = [];
      const sizes: number[] = [];
      for (let after: string | undefined; ; ) {
        const page = await objects.list('many/', after === undefined ? {} : { after });
        listed.push(...page.keys);
        sizes.push(page.keys.length);
        if (page.next === null) break;
        after = page.next;
      }
      expect([listed, sizes]).toEqual([keys.sort(), [1000, 1000]]);
    });

    test('shares no bytes with its callers', async () => {
      const body = bytes('start');
      const storing = objects.put(KEY, body, metadataOf(1), { kind: 'absent' });
      body.fill(0);
      await storing;
      found(await objects.get(KEY)).body.fill(0);
      expect(await textOf(KEY)).toBe('start');
    });

    const BAD_KEYS = [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      '.a',
      'a/../b',
      'a/.b',
      'A',
      'a b',
      'a\\b',
      'é',
      'a\0',
      'a\n',
      'x+y',
    ];
    test.each([...BAD_KEYS, `${'a/'.repeat(512)}a`, 'x'.repeat(201)])(
      'refuses the key %j with a RangeError',
      async (key) => {
        const etag = '"0"' as ETag;
        const calls = [
          objects.get(key),
          objects.stat(key),
          create(key, 'x'),
          swap(key, 'x', etag),
          objects.delete(key, etag),
        ];
        for (const result of await Promise.allSettled(calls)) {
          expect(result).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) });
        }
      },
    );

    test.each(['/', '..', '../', 'a/../', '/a', 'a//', 'A'])(
      'refuses to list below %j with a RangeError',
      async (prefix) => {
        await expect(objects.list(prefix)).rejects.toBeInstanceOf(RangeError);
      },
    );

    test('refuses an empty body with a RangeError', async () => {
      await expect(create(KEY, '')).rejects.toBeInstanceOf(RangeError);
      expect(await objects.stat(KEY)).toBeNull();
    });

    test('finds all objects after it was opened again', async () => {
      const etag = await created(KEY, 'one');
      const second = etagOf(await swap(KEY, 'two', etag));
      await objects.delete('heads/gone.json', await created('heads/gone.json', 'x'));
      objects = await opened.reopen();
      expect([await textOf(KEY), (await objects.list('')).keys]).toEqual(['two', [KEY]]);
      expect(await swap(KEY, 'three', second, 3)).toMatchObject({ kind: 'stored' });
    });
  });
}

/** The ETag of a put that must have been stored. */
export function etagOf(result: PutResult): ETag {
  if (result.kind !== 'stored') throw new Error('expected the put to be stored');
  return result.etag;
}

function found(result: Awaited<ReturnType<ObjectStore['get']>>) {
  if (result.kind !== 'found') throw new Error(`expected the object to be found, not ${result.kind}`);
  return result;
}
