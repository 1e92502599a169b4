import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packRaw, unpackRaw } from '../../lambdas/ingest/stored-batch.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { Change } from '../../storage/ports/ledger.ts';
import { checkTransact } from '../../storage/ports/ledger-rules.ts';
import { rawPartKey } from '../../storage/records/batches.ts';

const MEGABYTE = 1024 * 1024;

describe('a request’s body', () => {
  test('comes back byte by byte, with any content', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 2000 }),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        const parts = packRaw(body);
        expect(parts.length).toBeGreaterThan(0);
        expect(Buffer.from(unpackRaw(parts)).equals(body)).toBe(true);
      }),
    );
  });

  test('that cannot be compressed comes back from several parts, in one transaction with room for more', () => {
    const body = randomBytes(MEGABYTE);
    const parts = packRaw(body);
    expect(parts.length).toBeGreaterThan(1);
    expect(Buffer.from(unpackRaw(parts)).equals(body)).toBe(true);
    const changes = parts.map(
      (value, part): Change => ({
        kind: 'put',
        key: rawPartKey('b', part),
        revision: 0,
        value,
        if: { kind: 'absent' },
      }),
    );
    expect(() => checkTransact(changes, 'attempt')).not.toThrow();
    expect(parts.join('').length).toBeLessThan(2 * MEGABYTE);
  });

  test.each<[string, readonly string[]]>([
    ['no part', []],
    ['no gzip', ['AAAA']],
    ['a missing part', packRaw(randomBytes(MEGABYTE)).slice(1)],
    ['parts in another order', packRaw(randomBytes(MEGABYTE)).toReversed()],
    ['half of a part', [packRaw(Buffer.from('a body'))[0]?.slice(0, 12) ?? '']],
  ])('%s is damage', (_, parts) => {
    expect(() => unpackRaw(parts)).toThrow(StorageCorrupt);
  });
});
