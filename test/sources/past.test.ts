/** The past versions of a list, taken in chunk by chunk. */
import { describe, expect, test } from 'vitest';
import { takeInPast } from '../../lambdas/sources/past/take-in-past.ts';
import { NotTakenIn, type PastVersions } from '../../lambdas/sources/past/version-reader.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { listRecipe } from './example-recipe.ts';
import { ok, openSourceWorld, type SourceWorld } from './source-world.ts';

const VALUE = { quotedQuantity: '1', rounding: 'nearest', blank: 'leave-out' };
const LIST = listRecipe(2, {
  market: { outliers: 'off', outliersReason: 'They leap.' },
  observation: {
    ...{ metric: 'inputPrice', value: { column: 'in', ...VALUE } },
    also: [{ metric: 'outputPrice', value: { column: 'out', ...VALUE } }],
  },
});

type Document = Readonly<Record<string, object>> | string;
const bytesOf = (document: Document) => Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));

/** A day apart. */
function pastOf(documents: readonly Document[], origin = 'o'): PastVersions {
  const versions = documents.map((_, index) => {
    return { id: `v${index}`, seenAt: `2025-01-${String(index + 1).padStart(2, '0')}T00:00:00.000Z`, url: null };
  });
  return { origin, versions, read: async ({ id }) => bytesOf(documents[Number(id.slice(1))] as Document) };
}

const history = (world: SourceWorld, slug: string) => world.history(slug);

const DOCUMENTS = Array.from({ length: 12 }, (_, index) => ({
  a: { in: 1 + index, out: 5 },
  ...(index < 4 && { b: { in: 2, out: 2 } }),
  ...(index > 8 && { c: { in: 3, out: 0.004 } }),
}));
const OF_B = [
  'inputPrice 01 200',
  'outputPrice 01 200',
  'inputPrice 06 no-longer-listed',
  'outputPrice 06 no-longer-listed',
];

async function world(): Promise<SourceWorld> {
  const opened = openSourceWorld();
  opened.api.nowMs = Date.parse('2026-01-01T00:00:00Z');
  await opened.add(LIST);
  return opened;
}

const take = (opened: SourceWorld, past: PastVersions, chunkCharacters = 500) =>
  takeInPast(opened.ports, 'metals', past, { work: opened.work, chunkCharacters });

describe('the past of a list', () => {
  test('is the same in one chunk and in many', async () => {
    const [one, many] = [await world(), await world()];
    await take(one, pastOf(DOCUMENTS), 1e9);
    expect(await take(many, pastOf(DOCUMENTS), 1)).toMatchObject({ versions: 12, counts: { refused: 0 } });
    for (const slug of ['a', 'b', 'c']) expect(await history(many, slug)).toEqual(await history(one, slug));
    expect(await history(one, 'b')).toEqual(OF_B);
  });

  test('goes on after the last chunk that was applied, wherever it was cut off', async () => {
    const whole = await world();
    await take(whole, pastOf(DOCUMENTS), 1e9);
    for (let failsAt = 1; failsAt <= 6; failsAt++) {
      const opened = await world();
      let chunks = 0;
      const cut = takeInPast(opened.ports, 'metals', pastOf(DOCUMENTS), {
        chunkCharacters: 500,
        work: async () => {
          if (++chunks === failsAt) throw new StorageUnavailable('no disk');
          await opened.work();
        },
      });
      await expect(cut).rejects.toThrow(StorageUnavailable);
      await opened.work();
      const { versions } = await take(opened, pastOf(DOCUMENTS));
      if (failsAt > 2) expect(versions).toBeLessThan(12);
      for (const slug of ['a', 'b', 'c']) expect(await history(opened, slug)).toEqual(await history(whole, slug));
    }
  });

  test('is taken in as far as it is new, also after its commits were written anew', async () => {
    const opened = await world();
    await take(opened, pastOf(DOCUMENTS.slice(0, 5)));
    expect(await take(opened, pastOf(DOCUMENTS.slice(0, 5)))).toMatchObject({ versions: 0, counts: { accepted: 0 } });
    const { versions, ...others } = pastOf(DOCUMENTS);
    const anew = versions.map((version) => ({ ...version, id: version.id.replace('v', 'w') }));
    expect(await take(opened, { ...others, versions: anew })).toMatchObject({ versions: 7 });
    expect(await history(opened, 'b')).toEqual(OF_B);
  });

  test('has the unit that each of its amounts needs, and columns that came later', async () => {
    const opened = await world();
    const documents = [{ a: { in: 1 } }, { a: { in: 1, out: 0.00007 } }];
    expect(await take(opened, pastOf(documents))).toMatchObject({ versions: 2, passedOver: 0, counts: { refused: 0 } });
    expect(await history(opened, 'a')).toEqual(['inputPrice 01 100000', 'outputPrice 02 7']);
  });

  test('has each fact from the version on that says it', async () => {
    const opened = await world();
    const { mapping } = LIST as { mapping: { market: object } };
    const withFacts = { ...mapping, market: { ...mapping.market, attributes: { mode: '{mode}', ends: '{ends}' } } };
    await opened.add({ ...LIST, mapping: withFacts } as never, { 'if-match': '"1"' });
    const a = { in: 1, out: 1 };
    const documents = [{ a }, { a: { ...a, mode: 'chat' } }, { a: { ...a, mode: 'chat', ends: '2027-01-01' } }];
    expect(await take(opened, pastOf(documents), 1e9)).toMatchObject({ passedOver: 0, counts: { refused: 0 } });
    expect((await opened.api.ledger.get(marketKey('a')))?.value.attributes).toMatchObject({
      mode: { value: 'chat', observedAt: '2025-01-02T00:00:00Z' },
      ends: { value: '2027-01-01', observedAt: '2025-01-03T00:00:00Z' },
    });
  });

  test('older than what was fetched already leaves the next comparison as it is', async () => {
    const opened = await world();
    opened.answers = [ok(bytesOf({ a: { in: 70, out: 5 } }))];
    await opened.run();
    await take(opened, pastOf(DOCUMENTS));
    opened.api.nowMs += 86_400_000;
    await opened.run();
    expect((await opened.runs())[0]).toMatchObject({ outcome: 'unchanged' });
  });

  test('of a source without a list, and of none, is refused', async () => {
    const opened = openSourceWorld();
    await expect(take(opened, pastOf(DOCUMENTS))).rejects.toThrow(NotTakenIn);
    await opened.add();
    await expect(take(opened, pastOf(DOCUMENTS))).rejects.toThrow(NotTakenIn);
  });
});
