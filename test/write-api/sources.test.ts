/** Sources over the write API: recipes are added, changed, paused and removed, and runs are asked for. */
import { beforeEach, describe, expect, test } from 'vitest';
import { auditOfTarget } from '../../storage/records/audit.ts';
import { runsOfSource, SOURCE_STATES } from '../../storage/records/sources.ts';
import { EXAMPLE_RECIPE, recipeWith } from '../sources/example-recipe.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/sources';
const CREATE = { 'if-none-match': '*' };
const RUNS = `${URL}/metals/runs`;
const ifMatch = (revision: number) => ({ 'if-match': `"${revision}"` });

let world: ApiWorld;

beforeEach(() => {
  world = heldToSchemas(
    openApiWorld({
      markets: { limited: ['gold-*'] },
      scopes: { reader: ['recipes:read'], feed: ['ingest:write', 'sources:read'] },
    }),
  );
});

type Headers = Readonly<Record<string, string>>;
const put = (body: unknown = EXAMPLE_RECIPE, headers: Headers = CREATE, name = 'metals') =>
  world.call({ method: 'PUT', path: `${URL}/${name}`, body, headers });
const get = (name = 'metals', as = 'alice') => world.call({ path: `${URL}/${name}`, as });
const list = async () => (await world.call({ path: URL })).json.data;
const pause = (headers: Headers = {}) => world.call({ method: 'PUT', path: `${URL}/metals/pause`, headers });
const resume = (headers: Headers = {}) => world.call({ method: 'DELETE', path: `${URL}/metals/pause`, headers });
const remove = (headers: Headers) => world.call({ method: 'DELETE', path: `${URL}/metals`, headers });
const run = (body: unknown = {}) => world.call({ method: 'POST', path: RUNS, body });

describe('a source', () => {
  test('is added with its recipe, waits for its schedule, and is on record', async () => {
    const { status, headers, json } = await put();
    expect([status, headers.etag]).toEqual([200, '"1"']);
    expect(json).toMatchObject({ name: 'metals', recipe: EXAMPLE_RECIPE, paused: false, revision: 1 });
    expect((await get()).json).toEqual(json);
    expect(await list()).toEqual([
      {
        name: 'metals',
        paused: false,
        // The clock says 12:00.
        nextRunAt: '2026-11-20T16:30:00.000Z',
        run: null,
        failures: 0,
        lastRun: null,
        lastSuccessAt: null,
      },
    ]);
    const { items } = await world.ledger.query(auditOfTarget('source/metals').partition, { limit: 10 });
    expect(items).toHaveLength(1);
  });

  test.each<[string, unknown, string]>([
    ['no URL', recipeWith({ url: null }), '/url'],
    ['a URL in the clear', recipeWith({ url: 'http://metals.test.example/' }), '/url'],
    ['another host', recipeWith({ hosts: ['example.org'] }), '/url'],
    ['a schedule of each second', recipeWith({ schedule: { everyMinutes: 0 } }), '/schedule'],
    ['a mapping that is none', recipeWith({ mapping: { match: 1 } }), '/mapping/match'],
    ['another name than its path', recipeWith({ name: 'metal' }), '/name'],
  ])('with %s is refused', async (_, body, pointer) => {
    const { status, json } = await put(body);
    expect([status, json.code]).toEqual([422, 'validation-failed']);
    expect(json.errors.map((each: { pointer: string }) => each.pointer)).toContainEqual(
      expect.stringContaining(pointer),
    );
    expect(await list()).toEqual([]);
  });

  test.each([
    ['capitals', 'Metals'],
    ['a dot', '..'],
    ['61 characters', 'a'.repeat(61)],
  ])('has no name with %s', async (_, name) => {
    expect((await put(EXAMPLE_RECIPE, CREATE, name)).status).toBe(404);
  });

  test('keeps its revision and its audit if it is put once more as it is', async () => {
    await put();
    expect((await put(EXAMPLE_RECIPE, ifMatch(1))).headers.etag).toBe('"1"');
    const { items } = await world.ledger.query(auditOfTarget('source/metals').partition, { limit: 10 });
    expect(items).toHaveLength(1);
  });

  test('follows its new schedule', async () => {
    await put();
    await put(recipeWith({ schedule: { everyMinutes: 60 } }), ifMatch(1));
    expect(await list()).toMatchObject([{ nextRunAt: '2026-11-20T13:00:00.000Z' }]);
  });

  test('that is paused has no next run, also with a new recipe, until it is resumed', async () => {
    await put();
    expect((await pause()).json).toMatchObject({ paused: true, revision: 2 });
    expect((await pause()).json).toMatchObject({ paused: true, revision: 2 });
    await put(recipeWith({ schedule: { everyMinutes: 60 } }), ifMatch(2));
    expect(await list()).toMatchObject([{ paused: true, nextRunAt: null }]);
    expect((await pause(ifMatch(2))).status).toBe(412);
    expect((await resume(ifMatch(2))).status).toBe(412);
    expect((await resume(ifMatch(3))).json).toMatchObject({ paused: false, revision: 4 });
    expect((await resume()).json).toMatchObject({ revision: 4 });
    expect(await list()).toMatchObject([{ paused: false, nextRunAt: '2026-11-20T13:00:00.000Z' }]);
  });

  test('that is removed leaves nothing that a scheduler would find, and keeps its runs', async () => {
    await put();
    const { id } = (await run()).json;
    expect((await remove(ifMatch(1))).status).toBe(204);
    expect((await get()).status).toBe(404);
    expect((await world.ledger.query(SOURCE_STATES.partition, { limit: 10 })).items).toEqual([]);
    expect((await world.call({ path: `${RUNS}/${id}` })).json).toMatchObject({ id });
    expect((await world.call({ path: RUNS })).json.data).toHaveLength(1);
    expect((await run()).status).toBe(404);
    for (const answer of [await pause(), await resume()]) expect(answer.status).toBe(404);
  });
});

describe('a run', () => {
  test('is asked for once: until it has ended, the same run is answered', async () => {
    await put();
    const { status, headers, json } = await run();
    expect(status).toBe(202);
    expect(headers.location).toBe(`${RUNS}/${json.id}`);
    expect(json).toMatchObject({ source: 'metals', cause: 'request', state: 'waiting', outcome: null, attempt: 1 });
    expect((await world.call({ path: headers.location as string })).json).toEqual(json);
    expect((await run()).json.id).toBe(json.id);
    expect(await list()).toMatchObject([{ run: json.id }]);
    expect((await world.ledger.query(runsOfSource('metals').partition, { limit: 10 })).items).toHaveLength(1);
  });

  test('of a paused source can be asked for', async () => {
    await put();
    await pause();
    expect((await run()).status).toBe(202);
    expect((await run({ unconditional: 'yes' })).status).toBe(422);
  });

  test('that has sent nothing cannot be replayed', async () => {
    await put();
    const { id } = (await run()).json;
    const replay = (which: string) => world.call({ method: 'POST', path: `${RUNS}/${which}/replay` });
    expect((await replay(id)).json.code).toBe('state-transition');
  });

  test.each(['oil', 'Oil'])('of the source %s, which does not exist, is not found', async (name) => {
    expect((await world.call({ path: `${URL}/${name}/runs` })).status).toBe(404);
    expect((await world.call({ method: 'POST', path: `${URL}/${name}/runs`, body: {} })).status).toBe(404);
  });
});
