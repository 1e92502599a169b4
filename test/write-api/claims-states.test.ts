import { describe, expect, it } from 'vitest';
import { claimsInState } from '../../storage/records/review.ts';
import {
  ACTIONS,
  type Action,
  act,
  CLAIMS,
  filedIn,
  lists,
  openClaimWorld,
  STATES,
  type State,
} from './claim-world.ts';

/** The contract: submitted → under-review ↔ needs-evidence → accepted | rejected; the first three → withdrawn. */
const ALLOWED: { readonly [From in State]: { readonly [Name in Action]?: State } } = {
  submitted: { 'add-evidence': 'submitted', withdraw: 'withdrawn', start: 'under-review' },
  'under-review': {
    'add-evidence': 'under-review',
    withdraw: 'withdrawn',
    'request-evidence': 'needs-evidence',
    accept: 'accepted',
    reject: 'rejected',
  },
  'needs-evidence': {
    'add-evidence': 'under-review',
    withdraw: 'withdrawn',
    resume: 'under-review',
    accept: 'accepted',
    reject: 'rejected',
  },
  accepted: {},
  rejected: {},
  withdrawn: {},
};

const CELLS = STATES.flatMap((state) => ACTIONS.map((action) => [state, action, ALLOWED[state][action]] as const));

describe('the states of a claim', () => {
  it.each(CELLS.filter(([, , next]) => next !== undefined))('%s: %s leads to %s', async (state, action, next) => {
    const world = await openClaimWorld();
    const id = await filedIn(world, state);
    const { json: before } = await world.call({ path: `${CLAIMS}/${id}` });
    world.nowMs += 1000;
    const { status, json } = await act(world, id, action, { ifMatch: `"${before.revision}"` });
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, state: next, revision: before.revision + 1, createdAt: before.createdAt });
    expect(Date.parse(json.updatedAt)).toBe(world.nowMs);
    expect((await world.call({ path: `${CLAIMS}/${id}` })).json).toEqual(json);
    // It is in one queue, its state's.
    for (const queue of STATES) {
      expect(await lists(world.ledger, claimsInState(queue).partition, id)).toBe(queue === next);
    }
  });

  it.each(CELLS.filter(([, , next]) => next === undefined))('%s: %s is refused', async (state, action) => {
    const world = await openClaimWorld();
    const id = await filedIn(world, state);
    const { json: before } = await world.call({ path: `${CLAIMS}/${id}` });
    const { status, json } = await act(world, id, action);
    expect([status, json.code]).toEqual([409, 'state-transition']);
    const allowed = json.errors.map(({ code }: { code: string }) => code).sort();
    expect(allowed).toEqual(
      Object.keys(ALLOWED[state])
        .map((name) => `allowed.${name}`)
        .sort(),
    );
    for (const name of Object.keys(ALLOWED[state])) expect(json.detail).toContain(name);
    expect((await world.call({ path: `${CLAIMS}/${id}` })).json).toEqual(before);
  });
});
