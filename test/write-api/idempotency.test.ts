/** One request has one effect, however often it is sent at once. */
import { beforeEach, describe, expect, it } from 'vitest';
import { answersOf, type IdempotencyValue, idempotencyKey } from '../../storage/records/accounts.ts';
import { auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { putItem } from '../storage/put-item.ts';
import { ENGINES } from './engines.ts';
import { grant, seedMarkets } from './seeds.ts';
import { type WatchedLedger, watchLedger } from './watched-ledger.ts';
import { type Answer, type ApiWorld, type Call, openApiWorld } from './world.ts';

const URL = '/api/v1/watchlists';
const KEY = 'one-and-the-same-key';
const HOUR_MS = 60 * 60 * 1000;

const create = (name = 'Metals', markets: readonly string[] = ['gold-usd']): Call => {
  return { method: 'POST', path: URL, body: { name, markets } };
};
const replace = (id: string, ifMatch: string, name = 'Replaced'): Call => {
  return { method: 'PUT', path: `${URL}/${id}`, body: { name, markets: [] }, headers: { 'if-match': ifMatch } };
};
const remove = (id: string, ifMatch = '"1"'): Call => {
  return { method: 'DELETE', path: `${URL}/${id}`, headers: { 'if-match': ifMatch } };
};
const add = (id: string, slug: string): Call => ({ method: 'PUT', path: `${URL}/${id}/markets/${slug}` });

/** The parts of an answer that a copy shares with the original. */
const substance = ({ status, text, headers: { etag, location } }: Answer) => ({ status, text, etag, location });
const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true';

async function auditCounts({ ledger }: ApiWorld, actor: string, target: string): Promise<readonly number[]> {
  const partitions = [auditOfActor(actor).partition, auditOfTarget(target).partition, answersOf(actor).partition];
  const pages = await Promise.all(partitions.map((partition) => ledger.query(partition, { limit: 1000 })));
  return pages.map(({ items }) => items.length);
}

describe.each(ENGINES)('200 simultaneous copies of one request, to two processes, on %s', (_engine, open) => {
  it.each<[string, number, (id: string) => Call]>([
    ['a write that reads nothing', 201, () => create('Copied')],
    ['a write that reads first', 200, (id) => add(id, 'silver-usd')],
    ['a replacement', 200, (id) => replace(id, '"1"')],
    ['a deletion', 204, (id) => remove(id)],
  ])('have one effect, one audit record and one answer: %s', async (_what, status, callOf) => {
    const { ledgers, close } = await open();
    const watched = ledgers.map((ledger) =>
      // All of them have read before the first one commits.
      watchLedger(ledger, { delay: () => new Promise((resolve) => setImmediate(resolve)) }),
    );
    const worlds = watched.map((ledger, index) => openApiWorld({ ledger, process: `process-${index}` }));
    const [world] = worlds as [ApiWorld, ApiWorld];
    await seedMarkets(world.ledger, 'gold-usd', 'silver-usd');
    const { json } = await world.call(create());
    const commits = () => watched.reduce((sum, each) => sum + each.commits.length, 0);
    const before = commits();

    const call = { ...callOf(json.id), key: KEY };
    const copies = Array.from({ length: 200 }, (_, copy) => (worlds[copy % 2] as ApiWorld).call(call));
    const answers = await Promise.all(copies);

    const [first] = answers as [Answer];
    expect(first.status).toBe(status);
    for (const answer of answers) expect(substance(answer)).toEqual(substance(first));
    expect(answers.filter(isReplay)).toHaveLength(199);
    expect(commits() - before).toBe(1);
    const target = first.json?.id ?? json.id;
    const others = target === json.id ? 1 : 0;
    expect(await auditCounts(world, 'user:alice', `watchlist/${target}`)).toEqual([2, 1 + others, 2]);
    await close();
  });
});

describe('an idempotency key', () => {
  let ledger: WatchedLedger;
  let world: ApiWorld;

  beforeEach(async () => {
    ledger = watchLedger(openMemoryLedger());
    world = openApiWorld({ ledger });
    await seedMarkets(ledger, 'gold-usd', 'silver-usd');
  });

  /** Sends the request, which must leave the ledger as it is. */
  async function sendWithoutTrace(call: Call): Promise<Answer> {
    const before = [ledger.commits.length, await ledger.everything()];
    const answer = await world.call(call);
    expect([ledger.commits.length, await ledger.everything()]).toEqual(before);
    return answer;
  }

  it.each<[string, (id: string, otherId: string) => Call]>([
    ['another body', (id) => replace(id, '"1"', 'Other')],
    [
      'the same body, written otherwise',
      (id) => ({ ...replace(id, '"1"'), body: '{"markets":[],"name":"Replaced"} ' }),
    ],
    ['another path', (_id, otherId) => replace(otherId, '"1"')],
    ['another method', (id) => remove(id)],
    ['another If-Match', (id) => replace(id, '"2"')],
    ['another operation', () => create('Replaced', [])],
  ])('that was used is refused with %s, and nothing happens', async (_what, callOf) => {
    const [one, other] = [await world.call(create()), await world.call(create())];
    const original = { ...replace(one.json.id, '"1"'), key: KEY };
    const answer = await world.call(original);
    expect(answer.status).toBe(200);
    const reused = await sendWithoutTrace({ ...callOf(one.json.id, other.json.id), key: KEY });
    expect(reused).toMatchObject({ status: 422, json: { code: 'idempotency-key-reused' } });
    const replayed = await sendWithoutTrace(original);
    expect([substance(replayed), isReplay(replayed)]).toEqual([substance(answer), true]);
  });

  it('is another key for another query', async () => {
    const batch = (query: string): Call => ({
      method: 'POST',
      path: '/api/v1/ingest/batches',
      query,
      key: KEY,
      body: `${JSON.stringify({ type: 'market' })}\n`,
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect((await world.call(batch('dryRun=true'))).status).toBe(202);
    expect(await sendWithoutTrace(batch(''))).toMatchObject({ json: { code: 'idempotency-key-reused' } });
    expect(isReplay(await sendWithoutTrace(batch('dryRun=true')))).toBe(true);
  });

  it('is another key for the same bytes of another media type', async () => {
    const batch = (type: string): Call => ({
      ...{ method: 'POST', path: '/api/v1/ingest/batches', key: KEY, headers: { 'content-type': type } },
      body: '{"records":[{"type":"market"}]}\n',
    });
    expect((await world.call(batch('application/json'))).status).toBe(202);
    expect(await sendWithoutTrace(batch('application/x-ndjson'))).toMatchObject({
      json: { code: 'idempotency-key-reused' },
    });
  });

  it('is another key for the same condition in another field', async () => {
    const put = (field: string): Call => ({
      ...{ method: 'PUT', path: '/api/v1/entitlements/user:bob/watchlists', body: { limit: 1 }, key: KEY },
      headers: { [field]: '*' },
    });
    expect((await world.call(put('if-none-match'))).status).toBe(200);
    expect(await sendWithoutTrace(put('if-match'))).toMatchObject({ json: { code: 'idempotency-key-reused' } });
  });

  it('has an answer that opens in no other place of the ledger', async () => {
    const call = { ...create(), key: KEY };
    await world.call(call);
    const stored = await ledger.get(idempotencyKey('user:alice', KEY));
    await putItem(ledger, idempotencyKey('user:bob', KEY), stored?.value as IdempotencyValue);
    expect(await world.call({ ...call, as: 'bob' })).toMatchObject({ status: 500, json: { code: 'internal-error' } });
  });

  it('is kept for 72 hours, and free for any request after that', async () => {
    const call = { ...create(), key: KEY };
    const first = await world.call(call);
    world.nowMs += 72 * HOUR_MS;
    expect(substance(await sendWithoutTrace(call))).toEqual(substance(first));
    world.nowMs += 1;
    const other = await world.call({ ...create('Another', []), key: KEY });
    expect([other.status, isReplay(other), other.json.name]).toEqual([201, false, 'Another']);
  });

  it.each<[string, number, (id: string) => Call, (id: string) => Call]>([
    ['is not JSON', 400, () => ({ ...create(), body: '{' }), () => create()],
    ['has no credential', 401, () => ({ ...create(), as: null }), () => create()],
  ])('of a request that %s can be used again, because nothing was recorded', async (_what, status, wrong, right) => {
    await grant(ledger, 'user:alice', { 'watchlist-items': 1 });
    const { json } = await world.call(create());
    const refused = await sendWithoutTrace({ ...wrong(json.id), key: KEY });
    expect(refused.status).toBe(status);
    const corrected = await world.call({ ...right(json.id), key: KEY });
    expect([corrected.status < 300, isReplay(corrected)]).toEqual([true, false]);
  });
});
