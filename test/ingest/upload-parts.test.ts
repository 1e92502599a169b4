/** A file is cut into the same parts, however its bytes arrive and wherever reading starts again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutParts, type PartLimits, UNREADABLE, type UploadPart } from '../../lambdas/ingest/upload-parts.ts';

const SMALL: PartLimits = { maxLines: 3, maxBytes: 24, maxLineBytes: 10 };

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (let index = 0; start < bytes.length; index++) {
    const end = start + (sizes[index % sizes.length] ?? bytes.length);
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function partsOf(
  text: string | Uint8Array,
  limits = SMALL,
  sizes = [1_000_000],
  from = 0,
): Promise<UploadPart[]> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  const parts: UploadPart[] = [];
  for await (const part of cutParts(chunksOf(bytes.subarray(from), sizes), from, limits)) parts.push(part);
  return parts;
}

const linesOf = async (text: string | Uint8Array, limits?: PartLimits) =>
  (await partsOf(text, limits)).map(({ lines }) => lines);

describe('a file', () => {
  test.each<[string, string, readonly (readonly string[])[]]>([
    ['with one more', '1\n2\n3\n4', [['1', '2', '3'], ['4']]],
    ['with one more', '12345678\n1234567\n1234567\n', [['12345678', '1234567'], ['1234567']]],
    ['with blank lines', '\n1\n \t\r\n2', [['', '1', ''], ['2']]],
    ['with a line of the greatest length', '1234567890\n', [['1234567890']]],
    ['with a longer line', '12345678901\n1', [[UNREADABLE, '1']]],
    ['with a line that is not JSON', '{"a"\n1', [[UNREADABLE, '1']]],
    ['with a name twice', '{"a":1,"a":2}\n1'.replaceAll('a', ''), [[UNREADABLE, '1']]],
    ['with a carriage return inside a line', '1\r2\n3', [[UNREADABLE, '3']]],
    ['with a byte order mark', '\ufeff1\n2', [[UNREADABLE, '2']]],
  ])('%s', async (_, text, parts) => {
    const limits = text.includes('""') ? { ...SMALL, maxLineBytes: 20 } : SMALL;
    expect(await linesOf(text, limits)).toEqual(parts);
  });

  test('with bytes that are not UTF-8', async () => {
    expect(await linesOf(Buffer.from([0x22, 0xff, 0x22, 0x0a, 0x31]))).toEqual([[UNREADABLE, '1']]);
  });
});

const line = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom('', ' ', '{"a":1}', '{"é":"✓"}', 'not json', '"a longer text than fits"'),
);
const text = fc
  .tuple(fc.array(line, { maxLength: 20 }), fc.constantFrom('\n', '\r\n'))
  .map(([lines, end]) => lines.join(end));
const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });

describe('of any content, in any chunks:', () => {
  test('the parts are the same', async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, async (text, sizes) => {
        expect(await partsOf(text, SMALL, sizes)).toEqual(await partsOf(text));
      }),
    );
  });

  test('reading from the end of any part gives the later parts', async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, async (text, sizes) => {
        const parts = await partsOf(text);
        for (const [index, { end }] of parts.entries()) {
          expect(await partsOf(text, SMALL, sizes, end)).toEqual(parts.slice(index + 1));
        }
      }),
    );
  });

  test('no part is empty or too large, and together they hold the whole file', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        const parts = await partsOf(text);
        for (const { lines } of parts) {
          expect(lines.length).toBeGreaterThan(0);
          expect(lines.length).toBeLessThanOrEqual(SMALL.maxLines);
          expect(Buffer.byteLength(lines.map((each) => `${each}\n`).join(''))).toBeLessThanOrEqual(SMALL.maxBytes);
        }
        expect(parts.at(-1)?.end ?? 0).toBe(Buffer.byteLength(text));
      }),
    );
  });
});
