import { beforeEach, describe, expect, it } from 'vitest';
import { CLAIM_EVIDENCE_MAX } from '../../contract/operations/accounts/claims.ts';
import { type Action, act, CLAIMS, filed, filedIn, KEY, openClaimWorld, REQUESTS } from './claim-world.ts';
import type { ApiWorld } from './world.ts';

const OF_REVIEWER = ['start', 'request-evidence', 'resume', 'accept', 'reject'] as const satisfies readonly Action[];

let world: ApiWorld;

beforeEach(async () => {
  world = await openClaimWorld();
});

const read = async (id: string) => (await world.call({ path: `${CLAIMS}/${id}` })).json;

describe('the owner of a claim', () => {
  it('evidence is added at the end, up to 10 pieces', async () => {
    const id = await filed(world);
    for (let piece = 0; piece < CLAIM_EVIDENCE_MAX; piece++) {
      const body = { url: `https://evidence.example/${piece}` };
      const { json } = await act(world, id, 'add-evidence', { body });
      expect(json.evidence).toHaveLength(piece + 1);
      expect(json.evidence.at(-1)).toEqual({ ...body, note: null, addedAt: json.updatedAt });
    }
    const { status, json } = await act(world, id, 'add-evidence');
    expect([status, json.code]).toEqual([409, 'conflict']);
  });

  it('a withdrawal has no body', async () => {
    const { status } = await act(world, await filed(world), 'withdraw', { body: { note: 'n' } });
    expect(status).toBe(400);
  });
});

describe('a reviewer of a claim', () => {
  it.each(OF_REVIEWER)('%s: cannot be the owner of the claim, with any credential', async (action) => {
    world = await openClaimWorld({ scopes: {} });
    for (const [owner, reviewer] of [
      ['alice', 'alice'],
      [KEY, KEY.replace('k1', 'k2')],
    ] as const) {
      const id = await filed(world, undefined, owner);
      const { status, json } = await act(world, id, action, { as: reviewer });
      expect([status, json.code]).toEqual([403, 'forbidden']);
    }
  });

  it.each([
    ['a request for evidence that does not say for what', 'review', { action: 'request-evidence' }],
    ['a decision with a blank word', 'decision', { outcome: 'accepted', note: ' \n' }],
  ])('%s is refused', async (_, part, body) => {
    const id = await filedIn(world, 'under-review');
    const path = `${CLAIMS}/${id}/${part}`;
    const { status, json } = await world.call({ method: 'POST', path, as: 'rita', body, headers: { 'if-match': '*' } });
    expect([status, json.code]).toEqual([422, 'validation-failed']);
  });

  it('shows the requested evidence on the claim, until the next request', async () => {
    const id = await filedIn(world, 'needs-evidence');
    expect((await read(id)).reviewNote).toBe(REQUESTS['request-evidence'].body.note);
    const answered = await act(world, id, 'add-evidence');
    expect(answered.json.reviewNote).toBe(REQUESTS['request-evidence'].body.note);
    const again = await act(world, id, 'request-evidence', { body: { action: 'request-evidence', note: 'more' } });
    expect(again.json.reviewNote).toBe('more');
  });

  it.each([
    ['accept', 'accepted'],
    ['reject', 'rejected'],
  ] as const)('a decision to %s shows on the claim', async (action, outcome) => {
    const id = await filedIn(world, 'under-review');
    const { json } = await act(world, id, action);
    expect(json.decision).toEqual({ outcome, note: REQUESTS[action].body.note, decidedAt: json.updatedAt });
  });
});
