/** If storage does not answer, no write has two effects, and no acknowledged write is lost. */
import { describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { answersOf, usageKey, watchlistKey } from '../../storage/records/accounts.ts';
import { auditOfActor } from '../../storage/records/audit.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { ENGINES } from './engines.ts';
import { seedMarkets } from './seeds.ts';
import { type Fate, type Method, watchLedger } from './watched-ledger.ts';
import { type ApiWorld, type Call, openApiWorld } from './world.ts';

const KEY = 'one-and-the-same-key';
const CREATE: Call = { method: 'POST', path: '/api/v1/watchlists', body: { name: 'Metals', markets: ['gold-usd'] } };

const [LOST_REQUEST, LOST_ANSWER, ANSWERED] = ['lost-request', 'lost-answer', 'answered'] as const;

/** The fates of the first calls of one method, in order. Later calls succeed. */
function fates(method: Method, ...list: readonly Fate[]): (called: Method) => Fate {
  const rest = [...list];
  return (called) => (called === method ? (rest.shift() ?? ANSWERED) : ANSWERED);
}

/** The number of effects, counted in all places where duplicates could show. */
async function effects({ ledger }: ApiWorld): Promise<readonly number[]> {
  const actor = 'user:alice';
  const partitions = [`watchlists/${actor}`, auditOfActor(actor).partition, answersOf(actor).partition];
  const pages = await Promise.all(partitions.map((partition) => ledger.query(partition, { limit: 1000 })));
  const used = (await ledger.get(usageKey(actor, 'watchlists', null)))?.value;
  return [...pages.map(({ items }) => items.length), Number(used ?? 0)];
}

describe.each(ENGINES)('on %s', (_engine, open) => {
  it.each<[string, readonly Fate[], boolean]>([
    ['no request arrives', [LOST_REQUEST, LOST_REQUEST, LOST_REQUEST], false],
    ['no answer arrives', [LOST_ANSWER, LOST_ANSWER, LOST_ANSWER], true],
    ['the last request arrives', [LOST_REQUEST, LOST_REQUEST, LOST_ANSWER], true],
  ])(
    'a write is not acknowledged when %s, and the same request gives its one effect later',
    async (_what, list, isDone) => {
      const { ledgers, close } = await open();
      await seedMarkets(ledgers[0], 'gold-usd');
      const world = openApiWorld({ ledger: watchLedger(ledgers[0], { fateOf: fates('transact', ...list) }) });
      const call = { ...CREATE, key: KEY };
      const answer = await world.call(call);
      expect(answer).toMatchObject({ status: 503, json: { code: 'service-unavailable' } });
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      expect(await effects(world)).toEqual(isDone ? [1, 1, 1, 1] : [0, 0, 0, 0]);

      // Another process may be asked, which knows nothing of the first try.
      const other = openApiWorld({ ledger: ledgers[1], process: 'other' });
      const again = await other.call(call);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, isDone ? 'true' : undefined]);
      expect(await effects(world)).toEqual([1, 1, 1, 1]);
      expect(await world.ledger.get(watchlistKey('user:alice', again.json.id))).not.toBeNull();
      await close();
    },
  );
});

describe('a write', () => {
  it.each<readonly Fate[][]>([[[LOST_REQUEST, LOST_ANSWER]], [[LOST_ANSWER, LOST_REQUEST]]])(
    'is done once and acknowledged after two tries: %j',
    async (list) => {
      const ledger = watchLedger(openMemoryLedger(), { fateOf: fates('transact', ...list) });
      const world = openApiWorld({ ledger });
      const answer = await world.call({ ...CREATE, body: { name: 'Metals' } });
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, undefined]);
      expect(await effects(world)).toEqual([1, 1, 1, 1]);
    },
  );

  it.each([
    ['The disk of the service is full.', { code: 'ERR_SQLITE_ERROR', errcode: 13 }],
    ['The disk of the service is read-only.', { code: 'EROFS' }],
    [
      'The disk of the service is read-only, or a database file on it is.',
      { code: 'ERR_SQLITE_ERROR', errcode: 8 | (5 << 8) },
    ],
    ['Not available at the moment.', { code: 'ERR_SQLITE_ERROR', errcode: 5 }],
  ])('that storage refuses is answered with the reason, and no path: %s', async (reason, cause) => {
    const inner = Object.assign(new Error('/secret/ledger.sqlite'), cause);
    const refuse = () => Promise.reject(new StorageUnavailable('/secret cannot be used', { cause: inner }));
    const world = openApiWorld({ ledger: { ...watchLedger(openMemoryLedger()), transact: refuse } });
    const { status, json, text } = await world.call({ ...CREATE, body: { name: 'Metals' } });
    expect([status, json.detail.startsWith(reason), text.includes('/secret')]).toEqual([503, true, false]);
  });

  it('whose read is lost changes nothing, and can be sent again', async () => {
    const ledger = watchLedger(openMemoryLedger());
    await seedMarkets(ledger, 'gold-usd', 'silver-usd');
    const { json } = await openApiWorld({ ledger }).call(CREATE);
    const broken = watchLedger(ledger, { fateOf: fates('get', LOST_ANSWER) });
    const world = openApiWorld({ ledger: broken, process: 'broken' });
    const call: Call = { method: 'PUT', path: `/api/v1/watchlists/${json.id}/markets/silver-usd`, key: KEY };
    expect((await world.call(call)).status).toBe(503);
    expect(broken.commits).toHaveLength(0);
    expect((await world.call(call)).json.markets).toEqual(['gold-usd', 'silver-usd']);
  });

  it('whose answer the client did not receive is answered again', async () => {
    const world = openApiWorld({ ledger: openMemoryLedger() });
    const call = { ...CREATE, body: { name: 'Heard twice' }, key: KEY };
    const unheard = await world.send(world.eventOf(call));
    const heard = await world.call(call);
    expect(heard.text).toBe(unheard.body);
    expect(heard.headers).toMatchObject({ etag: unheard.headers.etag, 'idempotency-replayed': 'true' });
  });

  it('that is always overtaken ends with 409, records nothing, and can be sent again', async () => {
    const memory = openMemoryLedger();
    const { json } = await openApiWorld({ ledger: memory }).call({ ...CREATE, body: { name: 'Contended' } });
    const others = openApiWorld({ ledger: memory, process: 'others' });
    const url = `/api/v1/watchlists/${json.id}`;
    let isOvertaken = true;
    let faster = 0;
    const overtake = async (what: string): Promise<void> => {
      if (!isOvertaken || what !== 'transact arrives') return;
      const body = { name: `Faster ${++faster}` };
      await others.call({ method: 'PUT', path: url, body, headers: { 'if-match': '*' } });
    };
    const ledger = watchLedger(memory, { delay: overtake });
    const world = openApiWorld({ ledger });
    const call: Call = { method: 'PUT', path: url, body: { name: 'Slower' }, headers: { 'if-match': '*' }, key: KEY };
    const answer = await world.call(call);
    expect(answer).toMatchObject({ status: 409, json: { code: 'contention' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(ledger.commits).toHaveLength(0);
    // The number of tries is limited.
    expect(ledger.calls.length).toBeLessThan(20);
    isOvertaken = false;
    expect((await world.call(call)).json.name).toBe('Slower');
  });
});
