/** Current lists: a document without a history, of which only the news is recorded. */
import { beforeEach, describe, expect, test } from 'vitest';
import { uploadKey } from '../../storage/records/batches.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { listRecipe } from './example-recipe.ts';
import { failing, NOT_MODIFIED, ok, openSourceWorld, type SourceWorld } from './source-world.ts';

const WINDOW = { column: 'window', rounding: 'nearest', blank: 'leave-out' };
const LIST = listRecipe(3, {
  recipe: { schedule: { at: ['06:00'] } },
  market: { unit: { quantity: 'exact', atLeast: '1000000', of: 'token' } },
  observation: { metric: 'inputPrice', also: [{ metric: 'window', unit: 'token', value: WINDOW }] },
});

type Prices = Readonly<Record<string, object>>;
const document = (prices: Prices) => Buffer.from(JSON.stringify(prices));
const ONE = { in: 1e-6, window: 1000 };
const TWO = { in: 2e-6 };

let world: SourceWorld;
let day: number;

beforeEach(async () => {
  world = openSourceWorld();
  day = 0;
  await world.add(LIST);
});

/** A fetch, each on a day of its own. Gives its run. */
async function fetched(answer: Prices | 'fails' | 'not-modified', etag: string | null = null, asked: object = {}) {
  day += 1;
  world.api.nowMs = Date.parse(`2026-12-${String(day).padStart(2, '0')}T06:00:00Z`);
  world.answers = [
    answer === 'fails' ? failing() : answer === 'not-modified' ? NOT_MODIFIED : ok(document(answer), { etag }),
  ];
  await world.run(asked);
  const [run] = await world.runs();
  return run;
}

const history = (slug: string) => world.history(slug);

describe('a list', () => {
  test('records what is new, and nothing of what stands', async () => {
    expect(await fetched({ a: ONE, b: TWO })).toMatchObject({ outcome: 'taken-in', records: 5 });
    expect(await fetched({ a: ONE, b: { in: 2.5e-6 } })).toMatchObject({ outcome: 'taken-in', records: 1 });
    // The same, in other words.
    expect(await fetched({ b: { in: 2.5e-6, note: 'new' }, a: ONE })).toMatchObject({
      outcome: 'unchanged',
      upload: null,
    });
    expect(await history('a')).toEqual(['inputPrice 01 100', 'window 01 1000']);
    expect(await history('b')).toEqual(['inputPrice 01 200', 'inputPrice 02 250']);
    expect((await world.state()).lastSuccessAt).toMatch(/^2026-12-03/);
  });

  test('defines a market again for a fact that changed, and for none that is repeated', async () => {
    const mapping = LIST.mapping as { readonly market: object };
    const attributes = { mode: '{mode}' };
    await world.add(
      { ...LIST, mapping: { ...mapping, market: { ...mapping.market, attributes } } },
      { 'if-match': '"1"' },
    );
    const modeOf = async () => (await world.api.ledger.get(marketKey('a')))?.value.attributes?.mode;
    expect(await fetched({ a: { ...ONE, mode: 'chat' } })).toMatchObject({ records: 3 });
    expect(await fetched({ a: { ...ONE, mode: 'chat' } })).toMatchObject({ outcome: 'unchanged' });
    expect(await modeOf()).toMatchObject({ value: 'chat', observedAt: '2026-12-01T06:00:00Z' });
    expect(await fetched({ a: { ...ONE, mode: 'responses' } })).toMatchObject({ outcome: 'taken-in', records: 1 });
    expect(await modeOf()).toMatchObject({ value: 'responses', observedAt: '2026-12-03T06:00:00Z' });
  });

  test('shows a price as unknown that is too small for its market, and never the one before', async () => {
    const mapping = LIST.mapping as { readonly observation: { readonly value: object } };
    const value = { ...mapping.observation.value, rounding: 'nearest' };
    const observation = { ...mapping.observation, value };
    await world.add({ ...LIST, mapping: { ...mapping, observation } as never }, { 'if-match': '"1"' });
    await fetched({ a: ONE, b: TWO });
    const run = await fetched({ a: { ...ONE, in: 2.8e-9 }, b: TWO });
    expect(run).toMatchObject({ counts: { accepted: 1, refused: 0, withheld: 1 } });
    const upload = await world.api.ledger.get(uploadKey(run?.upload as string));
    const first = { market: 'a', metric: 'inputPrice', observedAt: '2026-12-02T06:00:00Z', sourceValue: '2.8e-9' };
    expect(upload?.value.firstWithheld).toEqual(first);
    const { latest } = (await world.api.ledger.get(marketKey('a')))?.value ?? {};
    const unknown = { amountMinor: null, rounded: false, sourceValue: '2.8e-9', unknownReason: 'withheld' };
    expect(latest?.inputPrice?.metric).toMatchObject(unknown);
    expect(await fetched({ a: { ...ONE, in: 2.8e-9 }, b: TWO })).toMatchObject({ outcome: 'unchanged' });
    await fetched({ a: ONE, b: TWO });
    expect(await history('a')).toEqual([
      ...['inputPrice 01 100', 'window 01 1000'],
      ...['inputPrice 02 withheld', 'inputPrice 04 100'],
    ]);
  });

  test('leaves a fact out whose column is missing, names the column, and takes the prices', async () => {
    const mapping = LIST.mapping as { readonly market: object };
    const market = { ...mapping.market, attributes: { deprecationDate: '{deprecation_date}' } };
    await world.add({ ...LIST, mapping: { ...mapping, market } }, { 'if-match': '"1"' });
    await fetched({ a: { ...ONE, deprecation_date: '2027-01-01' } });
    const run = await fetched({ a: TWO, b: ONE });
    const detail = expect.stringMatching(/^there is no column "deprecation_date": .* left out$/);
    expect(run).toMatchObject({ outcome: 'taken-in', refusedRows: 0, faults: [{ detail }] });
    expect(await history('a')).toEqual(['inputPrice 01 100', 'window 01 1000', 'inputPrice 02 200']);
    expect(await history('b')).toEqual(['inputPrice 02 100', 'window 02 1000']);
    expect((await world.api.ledger.get(marketKey('a')))?.value.attributes).toBeUndefined();
  });

  test('says that a value is gone after so many fetches, and that it is back', async () => {
    await fetched({ a: ONE, b: TWO, c: ONE });
    await fetched({ a: ONE, c: ONE });
    await fetched({ a: ONE, c: ONE });
    expect(await history('b')).toEqual(['inputPrice 01 200']);
    expect(await fetched({ a: TWO, c: ONE })).toMatchObject({ outcome: 'taken-in', records: 2 });
    expect(await history('b')).toEqual(['inputPrice 01 200', 'inputPrice 04 no-longer-listed']);
    // A metric alone, some days later.
    await fetched({ a: TWO, c: ONE });
    await fetched({ a: TWO, c: ONE });
    const ofA = ['inputPrice 01 100', 'window 01 1000', 'inputPrice 04 200', 'window 06 no-longer-listed'];
    expect(await history('a')).toEqual(ofA);
    await fetched({ a: { ...TWO, window: 1000 }, b: TWO, c: ONE });
    expect(await history('b')).toEqual(['inputPrice 01 200', 'inputPrice 04 no-longer-listed', 'inputPrice 07 200']);
    expect(await history('a')).toEqual([...ofA, 'window 07 1000']);
  });

  test('in which no value has a column any more is refused, so that none is gone for a new name', async () => {
    await fetched({ a: ONE });
    expect(await fetched({ a: { in: 1e-6, contextWindow: 1000 } })).toMatchObject({ reason: { code: 'no-records' } });
  });

  test('counts and names each row that cannot be read, although the document is one line', async () => {
    expect(await fetched({ a: { in: 'one' }, b: TWO, c: { in: 'three', window: 'none' } })).toMatchObject({
      refusedRows: 2,
      faults: ['row 1: ', 'row 3: ', 'row 3: '].map((place) => ({ line: 1, detail: expect.stringContaining(place) })),
    });
  });

  test('does not count a fetch that fails, or gives nothing, or a value that cannot be read', async () => {
    await fetched({ a: ONE, b: TWO });
    await fetched({ a: ONE });
    expect(await fetched('fails')).toMatchObject({ outcome: 'failed' });
    expect(await fetched({})).toMatchObject({ outcome: 'failed', reason: { code: 'no-records' } });
    await fetched({ a: ONE });
    expect(await fetched({ a: ONE, b: { in: 'two' } })).toMatchObject({ refusedRows: 1 });
    expect(await history('b')).toEqual(['inputPrice 01 200']);
  });

  test('that lost most of its values is set aside, until it is whole again or an operator takes it in', async () => {
    const [a, b, c, d, e] = [ONE, ONE, ONE, ONE, ONE];
    const whole = { a, b, c, d, e };
    await fetched(whole);
    const before = await world.observations();
    const short = { a: { ...ONE, in: 3e-6 }, b, x: ONE, y: ONE, z: ONE };
    for (let days = 0; days < 4; days++)
      expect(await fetched(short)).toMatchObject({ outcome: 'failed', reason: { code: 'list-shrunk' }, upload: null });
    expect(await world.observations()).toEqual(before);
    expect(await fetched(whole)).toMatchObject({ outcome: 'unchanged' });
    // More than half of them are there.
    expect(await fetched({ a, b, c })).toMatchObject({ outcome: 'unchanged' });
    const taken = await fetched({ a }, null, { unconditional: true });
    expect(taken).toMatchObject({ outcome: 'taken-in' });
    expect(await world.replay(taken?.id ?? '')).toMatchObject({ cause: 'replay' });
    await world.settle();
    expect((await world.runs())[0]).toMatchObject({ outcome: 'same' });
    expect(await fetched({ a })).toMatchObject({ outcome: 'taken-in', records: 4 });
    expect(await history('d')).toEqual(expect.arrayContaining(['inputPrice 01 100', 'inputPrice 09 no-longer-listed']));
  });

  test('a value that is away for a while is never gone', async () => {
    for (const prices of [{ a: ONE, b: TWO }, { a: ONE }, { a: ONE }, { a: ONE, b: TWO }, { a: ONE }, { a: ONE }]) {
      await fetched(prices);
    }
    expect(await history('b')).toEqual(['inputPrice 01 200']);
    await fetched({ a: ONE });
    expect(await history('b')).toEqual(['inputPrice 01 200', 'inputPrice 07 no-longer-listed']);
  });

  test('asks with the tag of the last answer, unless the next one counts', async () => {
    await fetched({ a: ONE, b: TWO }, '"1"');
    expect(await fetched('not-modified')).toMatchObject({ outcome: 'unchanged' });
    await fetched({ a: ONE }, '"2"');
    await fetched({ a: ONE }, '"2"');
    await fetched({ a: ONE }, '"2"');
    expect(await history('b')).toEqual(['inputPrice 01 200', 'inputPrice 05 no-longer-listed']);
    await fetched({ a: ONE }, '"2"');
    await fetched('not-modified');
    expect(world.requests.map(({ etag }) => etag)).toEqual([null, '"1"', '"1"', null, null, '"2"', '"2"']);
  });

  test('does not record a standing value again, whatever the recipe became', async () => {
    await fetched({ a: ONE, b: TWO });
    await world.add({ ...LIST, description: 'Another text.' }, { 'if-match': '"1"' });
    const again = await fetched({ a: ONE, b: { in: 3e-6 } });
    expect(again).toMatchObject({ records: 5, counts: { accepted: 1, unchanged: 4, refused: 0 } });
    expect(await history('a')).toEqual(['inputPrice 01 100', 'window 01 1000']);
    expect(await history('b')).toEqual(['inputPrice 01 200', 'inputPrice 02 300']);
  });

  test('takes neither of two rows that contradict each other, and what stood stays', async () => {
    const mapping = LIST.mapping as { readonly market: object };
    const market = { ...mapping.market, slug: '{id}', name: '{id}' };
    await world.add({ ...LIST, mapping: { ...mapping, match: ['id'], market } }, { 'if-match': '"1"' });
    const [a, b] = [
      { id: 'a', ...ONE },
      { id: 'b', ...TWO, window: 500 },
    ];
    expect(await fetched({ a, b })).toMatchObject({ records: 6 });
    expect(await fetched({ a: { id: 'a', in: 3e-6 }, other: { id: 'a', in: 4e-6 }, b })).toMatchObject({
      records: 0,
      refusedRows: 2,
    });
    expect(await fetched({ a: { ...a, in: 3e-6 }, b })).toMatchObject({ records: 1, refusedRows: 0 });
    expect(await history('a')).toEqual(['inputPrice 01 100', 'window 01 1000', 'inputPrice 03 300']);
  });

  test('sends everything again after a row was refused', async () => {
    await fetched({ a: ONE });
    // A hundred times as much: an outlier.
    expect(await fetched({ a: { in: 1e-4, window: 1000 } })).toMatchObject({ reason: { code: 'all-refused' } });
    expect(await fetched({ a: { in: 1e-4, window: 1001 } })).toMatchObject({ counts: { accepted: 1, refused: 1 } });
    expect(await fetched({ a: { in: 1e-4, window: 1001 }, b: TWO })).toMatchObject({
      counts: { accepted: 2, unchanged: 2, refused: 1 },
    });
  });

  test('costs its changes: a month of twenty models, of which one changes each third day', async () => {
    const prices = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`m${index}`, ONE]));
    for (let changes = 0; day < 30; ) {
      if (day % 3 === 1) prices[`m${changes++}`] = { ...ONE, in: 1.5e-6 };
      await fetched({ ...prices });
    }
    const runs = await world.runs();
    const sent = runs.filter(({ upload }) => upload !== null).map(({ records }) => records);
    // The first day defines each market, with two values.
    expect([sent.length, sent.at(-1), new Set(sent.slice(0, -1))]).toEqual([11, 60, new Set([1])]);
    expect(runs.filter(({ outcome }) => outcome === 'unchanged')).toHaveLength(19);
    expect(new Set(runs.map(({ sha256 }) => sha256)).size).toBe(11);
    expect((await history('m0')).length + (await history('m10')).length).toBe(5);
  });

  test('is replayed from the archive, with the answers before it', async () => {
    await fetched({ a: ONE, b: TWO });
    await fetched({ a: ONE });
    await fetched({ a: ONE });
    const gone = await fetched({ a: ONE, c: TWO });
    await fetched({ c: TWO });
    await world.replay(gone?.id ?? '');
    await world.settle();
    expect((await world.runs())[0]).toMatchObject({ cause: 'replay', outcome: 'same', records: 3 });
  });
});

test('a mapping that reads the moment of the fetch is refused without a list', async () => {
  const { list, ...recipe } = LIST;
  const answer = await openSourceWorld().add(recipe);
  expect(answer.json.errors).toMatchObject([{ pointer: '/list' }]);
});
