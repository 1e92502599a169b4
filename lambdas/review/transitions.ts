/** The states of a claim, and what leads from one to another: the whole of it, as one table. */
import type { ClaimState } from '../../contract/operations/claims.ts';
import type { ProblemError } from '../../contract/problems.ts';
import { type Refused, refuse } from '../pipeline/handler.ts';

export type ClaimAction = 'add-evidence' | 'withdraw' | 'start' | 'request-evidence' | 'resume' | 'accept' | 'reject';

type Transitions = { readonly [Action in ClaimAction]?: ClaimState };

/** What is not here is not allowed. Accepted, rejected and withdrawn are final. */
export const CLAIM_TRANSITIONS: { readonly [State in ClaimState]: Transitions } = {
  submitted: { 'add-evidence': 'submitted', withdraw: 'withdrawn', start: 'under-review' },
  'under-review': {
    'add-evidence': 'under-review',
    withdraw: 'withdrawn',
    'request-evidence': 'needs-evidence',
    accept: 'accepted',
    reject: 'rejected',
  },
  // Evidence that nobody brings must not keep a claim open: it can be decided from here too.
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

/** The state after an action; or a refusal that names, for programs too, every action that the state allows. */
export function nextState(state: ClaimState, action: ClaimAction): ClaimState | Refused {
  const transitions = CLAIM_TRANSITIONS[state];
  const next = transitions[action];
  if (next !== undefined) return next;
  const errors = Object.entries(transitions).map(([allowed, to]): ProblemError => {
    return { pointer: '', code: `allowed.${allowed}`, detail: `${state} → ${to}` };
  });
  const names = Object.keys(transitions).join(', ');
  const remedy = names === '' ? 'that state is final' : `what it allows is ${names}`;
  return refuse('state-transition', `The claim is ${state}, which does not allow ${action}: ${remedy}.`, { errors });
}
