/** From an answer to records: unpacking, the recipe's texts, the day of the run; always the same. */
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deriveRecords } from '../../../mapping/recipe/derive-records.ts';
import { parseRecipe, type Recipe } from '../../../mapping/recipe/recipe.ts';
import { zipArchive } from '../../sources/zip-archive.ts';

const CSV = `Date,Price\n${[2, 3, 4, 5, 6, 7, 8].map((day) => `2026-01-0${day},1.50\n`).join('')}`;

/** Of another program, made with and without knowing the sizes beforehand, and without compression; all hold CSV. */
const ARCHIVES = {
  deflated:
    'UEsDBBQAAAAIAAAAKVxq+qzQLwAAAHsAAAAKAAAAcHJpY2VzLmNzdnNJLEnVCSjKTE7lMjIwMtM1MNQ1MNIx1DM1QPCN0fgmaHxTNL4ZGt8cjW8B4QMAUEsBAhQDFAAAAAgAAAApXGr6rNAvAAAAewAAAAoAAAAAAAAAAAAAAIABAAAAAHByaWNlcy5jc3ZQSwUGAAAAAAEAAQA4AAAAVwAAAAAA',
  'written as a stream, with a comment':
    'UEsDBBQACAAIAAAAKVwAAAAAAAAAAAAAAAAKAAAAcHJpY2VzLmNzdnNJLEnVCSjKTE7lMjIwMtM1MNQ1MNIx1DM1QPCN0fgmaHxTNL4ZGt8cjW8B4QMAUEsHCGr6rNAvAAAAewAAAFBLAQIUAxQACAAIAAAAKVxq+qzQLwAAAHsAAAAKAAAAAAAAAAAAAACAAQAAAABwcmljZXMuY3N2UEsFBgAAAAABAAEAOAAAAGcAAAAJAGEgY29tbWVudA==',
  stored:
    'UEsDBBQAAAAAAAAAKVxq+qzQewAAAHsAAAAKAAAAcHJpY2VzLmNzdkRhdGUsUHJpY2UKMjAyNi0wMS0wMiwxLjUwCjIwMjYtMDEtMDMsMS41MAoyMDI2LTAxLTA0LDEuNTAKMjAyNi0wMS0wNSwxLjUwCjIwMjYtMDEtMDYsMS41MAoyMDI2LTAxLTA3LDEuNTAKMjAyNi0wMS0wOCwxLjUwClBLAQIUAxQAAAAAAAAAKVxq+qzQewAAAHsAAAAKAAAAAAAAAAAAAACAAQAAAABwcmljZXMuY3N2UEsFBgAAAAABAAEAOAAAAKMAAAAAAA==',
};

const SOURCE = { label: 'Shop', url: 'https://example.org/' };

function recipeOf(changes: object = {}, source: object = SOURCE, date: object = {}): Recipe {
  const result = parseRecipe({
    name: 'shop',
    description: 'A shop.',
    url: 'https://example.org/{date}',
    hosts: ['example.org'],
    schedule: { everyMinutes: 60 },
    mapping: {
      match: [],
      market: {
        ...{ slug: 'tea', name: 'Tea', kind: 'food', nativeCurrency: 'USD' },
        ...{ unit: { quantity: '1', of: 'kg' }, sources: [source] },
      },
      observation: {
        value: { column: 'Price', rounding: 'refuse' },
        currency: 'USD',
        date: { column: 'Date', format: 'YYYY-MM-DD', precision: 'day', ...date },
        ...{ sourceLabel: 'Shop', sourceUrl: 'https://example.org/', confidence: 'high', status: 'final' },
      },
    },
    ...changes,
  });
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result.recipe;
}

async function derive(recipe: Recipe, bytes: Uint8Array | string, date = '2026-01-09', pieceBytes = 7) {
  async function* pieces() {
    const whole = Buffer.from(bytes);
    for (let at = 0; at < whole.length; at += pieceBytes) yield whole.subarray(at, at + pieceBytes);
  }
  const results = [];
  for await (const result of deriveRecords(recipe, pieces(), { date })) results.push(result);
  return results;
}

/** The details of refusals, and the number of records. */
async function outcome(recipe: Recipe, bytes: Uint8Array | string): Promise<[refused: string[], records: number]> {
  const results = await derive(recipe, bytes);
  const refused = results.flatMap((result) => (result.kind === 'refusal' ? [result.detail] : []));
  return [refused, results.length - refused.length];
}

describe('the records of an answer', () => {
  test('have the texts of the recipe where the mapping leaves them out', async () => {
    const cadence = { period: 'day', releaseTime: '15:00', graceSeconds: 0 };
    const texts = { publisher: 'The shop', licence: 'CC0-1.0', attribution: 'Source: the shop', cadence };
    const [own] = await derive(recipeOf(texts), CSV);
    expect(own).toMatchObject({ record: { sources: [{ ...SOURCE, ...texts }] } });
    const [others] = await derive(recipeOf(texts, { ...SOURCE, publisher: 'Another', licence: 'MIT' }), CSV);
    expect(others).toMatchObject({
      record: { sources: [{ publisher: 'Another', licence: 'MIT', attribution: 'Source: the shop' }] },
    });
    const [none] = await derive(recipeOf(), CSV);
    expect(none).toMatchObject({ record: { sources: [{ publisher: null, licence: null, attribution: null }] } });
    expect(JSON.stringify(none)).not.toContain('cadence');
  });

  test('may take their date from the run', async () => {
    const recipe = recipeOf({}, SOURCE, { column: 'runDate' });
    const [, first] = await derive(recipe, 'Price\n2.50\n', '2026-02-03');
    expect(first).toMatchObject({ line: 2, record: { observedAt: '2026-02-03T00:00:00Z', sourceValue: '2.50' } });
    // One refusal, although the name is there twice.
    expect(await derive(recipe, 'Price,runDate\n2.50,2026-01-01\n')).toMatchObject([
      { kind: 'refusal', column: 'runDate' },
    ]);
  });

  test('may take their date from the run beside a wide table, in which the date is no value', async () => {
    const { mapping, ...recipe } = recipeOf({}, SOURCE, { column: 'runDate' });
    const wide = {
      ...mapping,
      unpivot: { columns: { except: [] }, name: 'item', value: 'Price' },
      match: ['item'],
      market: { ...mapping.market, slug: '{item}' },
    };
    const results = await derive({ ...recipe, mapping: wide }, 'tea,coffee\n2.50,3.00\n', '2026-02-03');
    expect(results.map((result) => result.kind === 'record' && result.record)).toMatchObject([
      { slug: 'tea' },
      { market: 'tea', observedAt: '2026-02-03T00:00:00Z' },
      { slug: 'coffee' },
      { market: 'coffee', observedAt: '2026-02-03T00:00:00Z' },
    ]);
  });

  test('cannot take their date from the run if the URL is the same each day', () => {
    const recipe = recipeOf({}, SOURCE, { column: 'runDate' });
    const result = parseRecipe({ ...recipe, url: 'https://example.org/latest' });
    expect('faults' in result && result.faults.map(({ pointer }) => pointer)).toEqual(['/url']);
  });
});

describe('a packed answer', () => {
  test.each(Object.entries(ARCHIVES))('is a ZIP archive, %s', async (_, base64) => {
    const packed = Buffer.from(base64, 'base64');
    expect(await derive(recipeOf({ unpack: 'zip' }), packed)).toEqual(await derive(recipeOf(), CSV));
  });

  test('is gzip', async () => {
    expect(await derive(recipeOf({ unpack: 'gzip' }), gzipSync(CSV))).toEqual(await derive(recipeOf(), CSV));
  });

  const file = { name: 'prices.csv', content: CSV };
  const fine = zipArchive([file]);
  /** The last of two disks, which has no file; its directory counts one. */
  const inParts = Buffer.from(fine);
  inParts.writeUInt16LE(0, fine.length - 14);
  const manyZeros = `${CSV}${'\n'.repeat(200_000)}`;
  const limits = { maxBytes: 10_000 };

  test.each<[string, object, Uint8Array | string, RegExp]>([
    ['no ZIP archive', { unpack: 'zip' }, CSV, /not a ZIP archive/],
    ['an archive with a part elsewhere', { unpack: 'zip' }, inParts, /parts/],
    ['an archive of two files', { unpack: 'zip' }, zipArchive([file, file]), /2 files/],
    ['an archive that ends early', { unpack: 'zip' }, fine.subarray(0, -5), /not a ZIP archive/],
    ['an archive that begins late', { unpack: 'zip' }, fine.subarray(5), /damaged/],
    ['an encrypted file', { unpack: 'zip' }, zipArchive([{ ...file, flags: 1 }]), /encrypted/],
    ['a wrong checksum', { unpack: 'zip' }, zipArchive([{ ...file, crc: 1 }]), /checksum/],
    ['a file that is longer than it says', { unpack: 'zip' }, zipArchive([{ ...file, fileBytes: 5 }]), /damaged/],
    ['a file that overlaps', { unpack: 'zip' }, zipArchive([{ ...file, packedBytes: 60_000 }]), /overlaps/],
    ['a file above the limit', { unpack: 'zip', limits }, zipArchive([{ ...file, content: manyZeros }]), /10000 bytes/],
    [
      'a file that lies about the limit',
      { unpack: 'zip', limits },
      zipArchive([{ ...file, content: manyZeros, fileBytes: 9 }]),
      /damaged/,
    ],
    ['gzip above the limit', { unpack: 'gzip', limits }, gzipSync(manyZeros), /10000 bytes/],
  ])('is refused if it is %s', async (_, changes, bytes, detail) => {
    const [refused, records] = await outcome(recipeOf(changes), bytes);
    expect([refused.length, records]).toEqual([1, records > 0 ? 8 : 0]);
    expect(refused[0]).toMatch(detail);
  });

  test('of any bytes is read or refused, and never throws', async () => {
    const recipe = recipeOf({ unpack: 'zip', limits: { maxBytes: 1000 } });
    const changed = fc.tuple(fc.nat(fine.length - 1), fc.nat(255)).map(([at, byte]) => {
      const bytes = Buffer.from(fine);
      bytes[at] = byte;
      return bytes;
    });
    await fc.assert(
      fc.asyncProperty(changed, async (bytes) => {
        const [refused, records] = await outcome(recipe, bytes);
        expect(refused.length === 1 || records === 8).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
