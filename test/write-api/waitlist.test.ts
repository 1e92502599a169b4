import { beforeEach, describe, expect, it } from 'vitest';
import { WAITLIST } from '../../storage/records/accounts.ts';
import { type DumpedLedger, holdersOf, openDumpedLedger } from './dumped-ledger.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { type Answer, type ApiWorld, openApiWorld } from './world.ts';

const URL = '/api/v1/waitlist-requests';
const CONTACT = 'jo.contact@example.org';
const USE_CASE = 'A weekly chart of metal prices';
const NOTE = 'Known to us since spring';
const INPUT = { contact: CONTACT, useCase: USE_CASE, requestsPerDay: 5_000, consentedAt: '2026-11-19T09:30:00.000Z' };

describe('waitlist requests', () => {
  let ledger: DumpedLedger;
  let world: ApiWorld;

  beforeEach(() => {
    ledger = openDumpedLedger();
    world = heldToSchemas(openApiWorld({ ledger }));
  });

  const record = (body: object = INPUT, key?: string): Promise<Answer> =>
    world.call({ method: 'POST', path: URL, body, as: 'operator', ...(key === undefined ? {} : { key }) });
  const decide = (id: string, body: object) =>
    world.call({ method: 'POST', path: `${URL}/${id}/decision`, body, as: 'operator' });
  const list = (query = '', as = 'operator') => world.call({ path: URL, query, as });

  it('are recorded, and listed newest first with their texts', async () => {
    const first = await record();
    expect(first.status).toBe(201);
    expect(first.json).toEqual({
      id: expect.stringMatching(/^req_/),
      state: 'submitted',
      requestsPerDay: 5_000,
      consentedAt: '2026-11-19T09:30:00Z',
      createdAt: '2026-11-20T12:00:00.000Z',
      decidedAt: null,
      keys: [],
    });
    world.nowMs += 1;
    const second = await record({ ...INPUT, contact: 'other@example.org' });
    const { json } = await list();
    expect(json.page.nextCursor).toBeNull();
    expect(json.data).toEqual([
      { ...second.json, contact: 'other@example.org', useCase: USE_CASE, note: null },
      { ...first.json, contact: CONTACT, useCase: USE_CASE, note: null },
    ]);
  });

  it.each([
    ['submitted', 'approved', 200],
    ['submitted', 'rejected', 200],
    ['approved', 'approved', 409],
    ['approved', 'rejected', 409],
    ['rejected', 'approved', 409],
    ['rejected', 'rejected', 409],
    ['erased', 'approved', 409],
    ['erased', 'rejected', 409],
  ])('that are %s can be %s: %i', async (state, outcome, status) => {
    const { json } = await record();
    if (state === 'erased') {
      const body = { subject: `account:${json.id}` };
      await world.call({ method: 'POST', path: '/api/v1/erasures', body, as: 'operator' });
    } else if (state !== 'submitted') {
      await decide(json.id, { outcome: state, note: NOTE });
    }
    world.nowMs += 1;
    const decided = await decide(json.id, { outcome, note: NOTE });
    expect(decided.status).toBe(status);
    if (status === 409) expect(decided.json.code).toBe('state-transition');
    else expect(decided.json).toEqual({ ...json, state: outcome, decidedAt: '2026-11-20T12:00:00.001Z' });
    expect((await list()).json.data).toMatchObject([{ state: status === 200 ? outcome : state }]);
  });

  it('are decided once by however many at once', async () => {
    const { json } = await record();
    const outcomes = ['approved', 'rejected', 'approved', 'rejected'];
    const answers = await Promise.all(outcomes.map((outcome) => decide(json.id, { outcome })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('keep contact, use case and note in the waitlist alone: no answer to a write, and no other item holds them', async () => {
    const recorded = await record(INPUT, 'the-key-of-the-record');
    const replayed = await record(INPUT, 'the-key-of-the-record');
    const decided = await decide(recorded.json.id, { outcome: 'approved', note: NOTE });
    const body = { waitlistRequest: recorded.json.id, label: 'Chart', scopes: ['claims:read'] };
    const issued = await world.call({ method: 'POST', path: '/api/v1/api-keys', body, as: 'operator' });
    expect([recorded, replayed, decided, issued].map(({ status }) => status)).toEqual([201, 201, 200, 201]);
    const items = await ledger.dump();
    for (const text of [CONTACT, USE_CASE, NOTE]) {
      const answers = [recorded, replayed, decided, issued].map((answer) => answer.text).join();
      expect(answers).not.toContain(text);
      expect(holdersOf(items, text)).toEqual([`${WAITLIST.partition} ${recorded.json.id}`]);
    }
  });
});
