/** The states of a claim, and the actions that lead from one to another: all of them, in one table. */
import type { ClaimState } from '../../contract/operations/accounts/claims.ts';
import type { ProblemError } from '../../contract/problems/problems.ts';
import { refusal } from '../http/refused-request.ts';

export type ClaimAction = 'add-evidence' | 'withdraw' | 'start' | 'request-evidence' | 'resume' | 'accept' | 'reject';

type Transitions = { readonly [Action in ClaimAction]?: ClaimState };

/** All other actions are refused. The states accepted, rejected and withdrawn are final. */
export const CLAIM_TRANSITIONS: { readonly [State in ClaimState]: Transitions } = {
  submitted: { 'add-evidence': 'submitted', withdraw: 'withdrawn', start: 'under-review' },
  'under-review': {
    'add-evidence': 'under-review',
    withdraw: 'withdrawn',
    'request-evidence': 'needs-evidence',
    accept: 'accepted',
    reject: 'rejected',
  },
  // Missing evidence must not keep a claim open for ever, so it can be decided in this state, too.
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

/** The state after an action. A refusal lists every allowed action, in a form that programs can read, too. */
export function nextState(state: ClaimState, action: ClaimAction): ClaimState {
  const transitions = CLAIM_TRANSITIONS[state];
  const next = transitions[action];
  if (next !== undefined) return next;
  const errors = Object.entries(transitions).map(([allowed, to]): ProblemError => {
    return { pointer: '', code: `allowed.${allowed}`, detail: `${state} → ${to}` };
  });
  const names = Object.keys(transitions).join(', ');
  const remedy = names === '' ? 'that state is final' : `it allows ${names}`;
  throw refusal('state-transition', `The claim is ${state}, which does not allow ${action}: ${remedy}.`, { errors });
}
