import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedEntries, BoundedEntry } from '../../embedded/edge/bounded-entries.ts';

class Sized extends BoundedEntry {
  own: number;

  constructor(key: string, own: number) {
    super(key);
    this.own = own;
  }
}

const MAX_BYTES = 100;
const open = () => new BoundedEntries<Sized>(MAX_BYTES, ({ own }) => own);

test('the entry that nobody has asked for since the hand has passed leaves first', () => {
  const entries = open();
  for (const key of ['a', 'b', 'c', 'd']) entries.set(new Sized(key, 24));
  entries.get('a');
  entries.get('c');
  entries.set(new Sized('e', 24));
  expect([...entries.keys()].sort()).toEqual(['a', 'c', 'd', 'e']);
  entries.set(new Sized('f', 24));
  expect([...entries.keys()].sort()).toEqual(['a', 'c', 'e', 'f']);
});

test('a look that is not a reader’s does not keep an entry', () => {
  const entries = open();
  for (const key of ['a', 'b', 'c', 'd']) entries.set(new Sized(key, 24));
  entries.peek('a');
  entries.set(new Sized('e', 24));
  expect(entries.peek('a')).toBeUndefined();
});

test('an entry that grows stays, and others leave for it', () => {
  const entries = open();
  const grows = new Sized('a', 24);
  for (const entry of [grows, new Sized('b', 24), new Sized('c', 24)]) entries.set(entry);
  for (const key of entries.keys()) entries.get(key);
  grows.own = 90;
  entries.resized(grows);
  expect([...entries.keys()]).toEqual(['a']);
  grows.own = 100;
  entries.resized(grows);
  expect([...entries.keys()]).toEqual([]);
  expect(entries.bytes).toBe(0);
});

/** What may happen, to one of six keys. */
const step = fc.record({
  do: fc.constantFrom('set', 'set', 'set', 'get', 'grow', 'delete'),
  key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  bytes: fc.integer({ min: 1, max: 120 }),
});

test('property: the memory is that of the entries that are kept, and never more than the limit', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const entries = open();
      for (const { do: what, key, bytes } of steps) {
        const known = entries.peek(key);
        if (what === 'set') {
          const entry = new Sized(key, bytes);
          entries.set(entry);
          // The newest one is kept, unless it has no room at all.
          expect(entries.peek(key)).toBe(bytes < MAX_BYTES ? entry : undefined);
          expect(entry.place >= 0).toBe(bytes < MAX_BYTES);
        } else if (what === 'delete') entries.delete(key);
        else if (what === 'get') expect(entries.get(key)).toBe(known);
        else if (known !== undefined) {
          known.own = bytes;
          entries.resized(known);
          expect(entries.peek(key)).toBe(bytes < MAX_BYTES ? known : undefined);
        }
        const kept = [...entries.keys()].map((name) => entries.peek(name) as Sized);
        expect(entries.bytes).toBe(kept.reduce((sum, { own }) => sum + own + 1, 0));
        expect(entries.bytes).toBeLessThanOrEqual(MAX_BYTES);
        expect(entries.size).toBe(kept.length);
        expect(new Set(kept.map(({ place }) => place)).size).toBe(kept.length);
      }
    }),
    { numRuns: 500 },
  );
});
