/** Runs of sources, from the schedule to observations. */
import { beforeEach, describe, expect, test } from 'vitest';
import { IDLE_RUN_KEPT_DAYS } from '../../contract/operations/sources.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { uploadKey } from '../../storage/records/batches.ts';
import { runKey } from '../../storage/records/sources.ts';
import { putItem } from '../storage/put-item.ts';
import { EXAMPLE_RECIPE, metalsCsv, recipeWith } from './example-recipe.ts';
import { failing, NOT_MODIFIED, ok, openSourceWorld, type SourceWorld } from './source-world.ts';

const DAY_ONE = metalsCsv(['gold', '2026-11-18', '4129.10'], ['silver', '2026-11-18', '50.20']);
const DAY_TWO = metalsCsv(
  ['gold', '2026-11-18', '4129.20'],
  ['silver', '2026-11-18', '50.20'],
  ['gold', '2026-11-19', '4140.00'],
);
const at = (time: string) => Date.parse(`2026-11-${time}Z`);

let world: SourceWorld;

beforeEach(async () => {
  world = openSourceWorld();
  await world.add();
});

async function newest() {
  const [run] = await world.runs();
  if (run === undefined) throw new Error('there is no run');
  return run;
}

describe('a run', () => {
  test('begins when it is due, and takes the records in', async () => {
    world.answers = [ok(DAY_ONE, { etag: '"one"', lastModified: 'Wed, 18 Nov 2026 16:00:00 GMT' })];
    await world.settle();
    expect(await world.runs()).toEqual([]);
    world.api.nowMs = at('20T16:30:00');
    await world.settle();
    const run = await newest();
    expect(world.ended).toEqual([run.id]);
    expect(run).toMatchObject({
      cause: 'schedule',
      state: 'ended',
      outcome: 'taken-in',
      reason: null,
      attempt: 1,
      startedAt: '2026-11-20T16:30:00.000Z',
      url: EXAMPLE_RECIPE.url,
      sha256: sha256Hex(DAY_ONE),
      bytes: DAY_ONE.length,
      etag: '"one"',
      lastModified: 'Wed, 18 Nov 2026 16:00:00 GMT',
      // Two markets, with one observation each.
      records: 4,
      refusedRows: 0,
      counts: { accepted: 4, unchanged: 0, refused: 0 },
      nextRunAt: '2026-11-21T16:30:00.000Z',
    });
    expect(await world.observations()).toEqual(['gold-usd 2026-11-18 412910', 'silver-usd 2026-11-18 5020']);
    expect(await world.state()).toMatchObject({
      run: null,
      failures: 0,
      nextRunAt: '2026-11-21T16:30:00.000Z',
      lastRun: { id: run.id, outcome: 'taken-in', finishedAt: run.finishedAt },
      lastSuccessAt: run.finishedAt,
    });
    expect(world.requests).toEqual([
      {
        url: EXAMPLE_RECIPE.url,
        hosts: ['metals.test.example'],
        maxBytes: 16 * 1024 * 1024,
        timeoutSeconds: 60,
        etag: null,
        lastModified: null,
      },
    ]);
  });

  test('sends as the source, with no more than a feed may do', async () => {
    world.answers = [ok(DAY_ONE)];
    const { id } = await world.run();
    const upload = await world.api.ledger.get(uploadKey(`upl_${id.slice(4)}`));
    expect(upload?.value).toMatchObject({
      subject: 'system:source:metals',
      actor: 'system:source:metals',
      authority: { scopes: ['ingest:write', 'ingest:correct', 'markets:write'], markets: null },
      mode: 'correct',
    });
    const shown = await world.api.call({ path: `/api/v1/ingest/uploads/upl_${id.slice(4)}`, as: 'operator' });
    expect(shown.json).toMatchObject({ state: 'applied', counts: { accepted: 4 } });
  });

  test('that was missed while no process ran is made once', async () => {
    world.answers = [ok(DAY_ONE)];
    world.api.nowMs = at('25T12:00:00');
    await world.settle();
    expect(await world.runs()).toHaveLength(1);
    expect(await world.state()).toMatchObject({ nextRunAt: '2026-11-25T16:30:00.000Z' });
  });

  test('that ended while the clock was a year ahead does not put the next one off by a year', async () => {
    world.answers = [ok(DAY_ONE)];
    world.api.nowMs = at('20T16:30:00') + 365 * 24 * 60 * 60 * 1000;
    await world.run();
    world.api.nowMs = at('20T17:00:00');
    await world.settle();
    expect(await world.state()).toMatchObject({
      lastRun: { finishedAt: '2026-11-20T17:00:00.000Z' },
      nextRunAt: '2026-11-21T16:30:00.000Z',
    });
    await world.settle();
    expect(await world.runs()).toHaveLength(2);
  });

  test('of a later file corrects, adds, and leaves the rest', async () => {
    world.answers = [ok(DAY_ONE), ok(DAY_TWO)];
    await world.run();
    await world.run();
    expect(await newest()).toMatchObject({ outcome: 'taken-in', counts: { accepted: 2, unchanged: 3, refused: 0 } });
    expect(await world.observations()).toEqual([
      'gold-usd 2026-11-18 412910',
      'gold-usd 2026-11-18 412920',
      'gold-usd 2026-11-19 414000',
      'silver-usd 2026-11-18 5020',
    ]);
  });

  test('asks on the terms of the answer before it, and takes 304 for unchanged', async () => {
    world.answers = [ok(DAY_ONE, { etag: '"one"', lastModified: 'yesterday' }), NOT_MODIFIED];
    for (let runs = 0; runs < 3; runs++) await world.run();
    expect(world.requests.map(({ etag, lastModified }) => [etag, lastModified])).toEqual([
      [null, null],
      ['"one"', 'yesterday'],
      ['"one"', 'yesterday'],
    ]);
    expect(await newest()).toMatchObject({ outcome: 'unchanged', etag: '"one"', sha256: null, upload: null });
    expect(await world.state()).toMatchObject({ failures: 0, lastRun: { outcome: 'unchanged' } });
  });

  test('with the same records is unchanged, and its answer is archived and its validators count', async () => {
    const same = Buffer.concat([DAY_ONE, Buffer.from('\n')]);
    world.answers = [ok(DAY_ONE, { etag: '"one"' }), ok(same, { etag: '"two"' }), NOT_MODIFIED];
    for (let runs = 0; runs < 3; runs++) await world.run();
    const [, second] = await world.runs();
    expect(second).toMatchObject({ outcome: 'unchanged', sha256: sha256Hex(same), records: 4, upload: null });
    expect(world.archive.files.has(sha256Hex(same))).toBe(true);
    expect(world.requests[2]?.etag).toBe('"two"');
  });

  test('without conditions takes the same answer in again', async () => {
    world.answers = [ok(DAY_ONE, { etag: '"one"' })];
    await world.run();
    await world.run({ unconditional: true });
    expect(world.requests[1]?.etag).toBeNull();
    expect(await newest()).toMatchObject({ outcome: 'taken-in', counts: { accepted: 0, unchanged: 4, refused: 0 } });
  });

  test('after a change of the recipe asks for everything', async () => {
    world.answers = [ok(DAY_ONE, { etag: '"one"' })];
    await world.run();
    await world.add(recipeWith({ description: 'Other words.' }), { 'if-match': '"1"' });
    await world.run();
    expect(world.requests[1]?.etag).toBeNull();
    expect(await newest()).toMatchObject({ outcome: 'unchanged' });
  });

  test('stores neither of two rows that contradict each other, however far apart', async () => {
    const price = (amount: string) => ['gold', '2026-11-18', amount] as const;
    const others = Array.from({ length: 1_200 }, (_, day) => {
      const date = new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10);
      return ['silver', date, '50.16'] as const;
    });
    world.answers = [ok(metalsCsv(price('4129.10'), ...others, price('4130.00'), price('4129.10')))];
    await world.run();
    const run = await newest();
    expect(run).toMatchObject({ outcome: 'taken-in', refusedRows: 3, counts: { refused: 0 } });
    expect(run.faults.map(({ line, code }) => [line, code])).toEqual([
      [2, 'duplicate.in-batch'],
      [1203, 'duplicate.in-batch'],
      [1204, 'duplicate.in-batch'],
    ]);
    expect((await world.observations()).filter((observation) => observation.startsWith('gold'))).toEqual([]);
  });

  test('leaves refused rows out and names them', async () => {
    const bad = metalsCsv(['gold', '2026-11-18', '4129.10'], ['lead', '2026-11-18', '1'], ['gold', 'yesterday', '1']);
    world.answers = [ok(bad)];
    await world.run();
    const run = await newest();
    expect(run).toMatchObject({ outcome: 'taken-in', records: 2, refusedRows: 2, counts: { accepted: 2 } });
    expect(run.faults.map(({ line }) => line)).toEqual([3, 4]);
    expect(run.faults.every(({ code, detail }) => code !== '' && detail !== '')).toBe(true);
  });

  test.each<[string, Uint8Array, string]>([
    ['no rows', metalsCsv(), 'no-records'],
    ['nothing', Buffer.from(''), 'no-records'],
    ['other columns', Buffer.from('<html>Sorry</html>\n'), 'no-records'],
    ['no row that is right', metalsCsv(['lead', '2026-11-18', '1']), 'no-records'],
    ['a day that has not come', metalsCsv(['gold', '2027-01-01', '4129.10']), 'taken-in'],
  ])('whose answer has %s ends as %s', async (_, bytes, code) => {
    world.answers = [ok(bytes)];
    await world.run();
    const { outcome, reason, counts } = await newest();
    // A market is taken in without its observation.
    if (code === 'taken-in')
      return expect({ outcome, counts }).toMatchObject({ outcome: code, counts: { refused: 1 } });
    expect({ outcome, reason }).toMatchObject({ outcome: 'failed', reason: { code } });
    expect(await world.observations()).toEqual([]);
  });

  test('of a source that is removed before it begins, fails; one that has begun goes on', async () => {
    const remove = () =>
      world.api.call({ method: 'DELETE', path: '/api/v1/sources/metals', headers: { 'if-match': '"1"' } });
    world.answers = [ok(DAY_ONE)];
    await world.ask();
    await remove();
    await world.settle();
    expect(await newest()).toMatchObject({ outcome: 'failed', reason: { code: 'source-removed' } });
    await world.add();
    await world.ask();
    await world.round();
    await remove();
    await world.settle();
    expect(await newest()).toMatchObject({ outcome: 'taken-in', nextRunAt: null });
  });

  test('of a source that is paused meanwhile ends, and no other begins', async () => {
    world.answers = [ok(DAY_ONE)];
    world.api.nowMs = at('20T16:30:00');
    await world.round();
    await world.api.call({ method: 'PUT', path: '/api/v1/sources/metals/pause' });
    world.api.nowMs = at('22T16:30:00');
    await world.settle();
    expect(await world.runs()).toMatchObject([{ outcome: 'taken-in', nextRunAt: null }]);
    expect(await world.state()).toMatchObject({ paused: true, nextRunAt: null });
  });

  test('that took nothing in is forgotten after a while, and no other', async () => {
    world.answers = [failing(), ok(DAY_ONE)];
    for (let runs = 0; runs < 2; runs++) await world.run();
    const [taken, failed] = await world.runs();
    const expiryOf = async (id = '') => (await world.api.ledger.get(runKey('metals', id)))?.expiresAtMs;
    expect(await expiryOf(taken?.id)).toBeNull();
    const endMs = Date.parse(failed?.finishedAt as string);
    expect(await expiryOf(failed?.id)).toBe(endMs + IDLE_RUN_KEPT_DAYS * 86_400_000);
  });
});

describe('after a failure', () => {
  test('the pauses double, have a part of chance, and end with the schedule or a success', async () => {
    world.answers = [failing()];
    world.api.nowMs = at('20T16:30:00');
    const pauses: number[] = [];
    for (let runs = 1; runs <= 7; runs++) {
      await world.round();
      expect(await newest()).toMatchObject({ outcome: 'failed', attempt: runs, reason: { code: 'http-503' } });
      const { failures, nextRunAt } = await world.state();
      expect(failures).toBe(runs);
      const nextMs = Date.parse(nextRunAt as string);
      pauses.push((nextMs - world.api.nowMs) / 60_000);
      world.api.nowMs = nextMs;
    }
    expect(pauses).toEqual([5.625, 11.25, 22.5, 45, 90, 180, 270]);
    world.answers = [ok(DAY_ONE)];
    await world.settle();
    expect(await world.state()).toMatchObject({ failures: 0, nextRunAt: '2026-11-21T16:30:00.000Z' });
  });

  test('a source that runs more often is asked at its next time', async () => {
    await world.add(recipeWith({ schedule: { everyMinutes: 5 } }), { 'if-match': '"1"' });
    world.answers = [failing()];
    for (let runs = 0; runs < 5; runs++) {
      world.api.nowMs = Date.parse((await world.state()).nextRunAt as string);
      await world.round();
    }
    expect(Date.parse((await world.state()).nextRunAt as string) - world.api.nowMs).toBe(5 * 60_000);
  });

  test.each([
    ['an hour', 3_600, 3_600],
    ['two days', 172_800, 172_800],
    ['a year', 31_536_000, 604_800],
    ['no time', 0, 337.5],
  ])('a source that wants to be asked after %s is not asked sooner', async (_, retryAfter, seconds) => {
    world.answers = [failing('http-429', retryAfter)];
    await world.ask();
    await world.round();
    expect(Date.parse((await world.state()).nextRunAt as string) - world.api.nowMs).toBe(seconds * 1000);
  });

  test('that the next try would repeat, the source is asked at its next time', async () => {
    world.answers = [failing('not-allowed', null, false)];
    await world.ask();
    await world.round();
    expect(await world.state()).toMatchObject({ failures: 1, nextRunAt: '2026-11-20T16:30:00.000Z' });
  });

  test('of this code, the run ends, the fault is told, and the source goes on', async () => {
    world.answers = [new TypeError('a fault of ours'), ok(DAY_ONE)];
    await world.ask();
    expect(await world.round()).toMatchObject({ failed: 1 });
    world.api.nowMs += 1_000;
    expect(world.failures).toHaveLength(1);
    expect(await newest()).toMatchObject({ outcome: 'failed', reason: { code: 'internal-error' } });
    await world.run();
    expect(await newest()).toMatchObject({ outcome: 'taken-in' });
  });

  test.each([
    ['after the answer was archived', 'archive-damaged'],
    ['after the upload was announced', 'internal-error'],
  ])('of this service, %s, the run ends at once', async (when, code) => {
    world.answers = [ok(DAY_ONE)];
    await world.ask();
    const broken = async () => {
      throw new TypeError('a fault of ours');
    };
    const other =
      code === 'archive-damaged'
        ? { archive: { ...world.archive, get: async () => null } }
        : { uploads: { ...world.ports.uploads, put: broken } };
    expect(await world.round(other), when).toMatchObject({ failed: 1 });
    expect(await newest()).toMatchObject({ outcome: 'failed', reason: { code } });
    expect(world.ended).toHaveLength(1);
  });

  test('the same file is taken in by the next run', async () => {
    world.answers = [ok(metalsCsv()), ok(DAY_ONE)];
    for (let runs = 0; runs < 2; runs++) await world.run();
    expect(world.requests[1]?.etag).toBeNull();
    expect(await newest()).toMatchObject({ outcome: 'taken-in' });
  });
});

describe('a replay', () => {
  async function takenIn() {
    world.answers = [ok(DAY_ONE)];
    const { id } = await world.run();
    return id;
  }

  test('derives the same records, also after the recipe has changed, and changes nothing', async () => {
    const id = await takenIn();
    await world.add(recipeWith({ description: 'Other words.', licence: 'CC-BY-4.0' }), { 'if-match': '"1"' });
    const before = await world.state();
    const replay = await world.replay(id);
    expect(replay).toMatchObject({ cause: 'replay', replayOf: id, state: 'waiting', sha256: sha256Hex(DAY_ONE) });
    await world.settle();
    expect(await newest()).toMatchObject({ id: replay.id, outcome: 'same', records: 4, upload: null });
    expect(await world.state()).toEqual(before);
    expect(await world.observations()).toHaveLength(2);
    expect(world.requests).toHaveLength(1);
  });

  test('tells that the records are others', async () => {
    const id = await takenIn();
    const key = uploadKey(`upl_${id.slice(4)}`);
    const upload = await world.api.ledger.get(key);
    const other = { ...upload?.value, sha256: sha256Hex('other records') } as never;
    await putItem(world.api.ledger, key, other, 99);
    await world.replay(id);
    await world.settle();
    expect(await newest()).toMatchObject({ outcome: 'different' });
  });

  test('of an answer that the archive has lost fails, and says so', async () => {
    const id = await takenIn();
    world.archive.files.delete(sha256Hex(DAY_ONE));
    await world.replay(id);
    await world.round();
    expect(await newest()).toMatchObject({ outcome: 'failed', reason: { code: 'archive-damaged' } });
    expect(world.failures).toHaveLength(1);
  });

  test('cannot be replayed', async () => {
    const { id } = await world.replay(await takenIn());
    await world.settle();
    const path = `/api/v1/sources/metals/runs/${id}/replay`;
    expect((await world.api.call({ method: 'POST', path })).json.code).toBe('state-transition');
  });
});

describe('the next round', () => {
  test('is due with the next run, or when the worker may have finished', async () => {
    expect(await world.round()).toEqual({ failed: 0, nextAtMs: at('20T16:30:00') });
    world.answers = [ok(DAY_ONE)];
    await world.ask();
    expect((await world.round()).nextAtMs).toBe(world.api.nowMs + 1_000);
    await world.settle();
    await world.api.call({ method: 'PUT', path: '/api/v1/sources/metals/pause' });
    expect(await world.round()).toEqual({ failed: 0, nextAtMs: null });
  });
});
