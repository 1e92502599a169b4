/**
 * The handlers of waitlist requests. Contact, use case and note are only in the requests' records and in their list.
 * Answers to writes leave them out, because these answers are stored for replays.
 */

import type { WaitlistRequest } from '../../contract/operations/accounts/waitlist-requests.ts';
import { canonicalInstant } from '../../contract/values/metric.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import { WAITLIST, type WaitlistRequestValue, waitlistRequestKey } from '../../storage/records/accounts.ts';
import { refusal } from '../http/refused-request.ts';
import { type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listWaitlistRequests: ReadHandler<'listWaitlistRequests'> = (request, tools) =>
  paginate(request, tools, {
    range: WAITLIST,
    valuesOf: (items) => items.map(({ value }) => value),
  });

export const createWaitlistRequest = writeHandler<'createWaitlistRequest'>()({
  decide({ body, now, nowMs, newId }) {
    if (Date.parse(body.consentedAt) > nowMs) {
      const detail = 'consent cannot be given in the future';
      const errors = [{ pointer: '/consentedAt', code: 'date.future', detail }];
      throw refusal('validation-failed', 'Say when the person has consented.', { errors });
    }
    const id = newId('req');
    const value: WaitlistRequestValue = {
      ...body,
      id,
      consentedAt: canonicalInstant(body.consentedAt),
      state: 'submitted',
      note: null,
      keys: [],
      createdAt: now,
      decidedAt: null,
    };
    return {
      target: targetOf(id),
      changes: [created(waitlistRequestKey(id), value, 1)],
      response: { body: withoutContact(value) },
    };
  },
});

export const decideWaitlistRequest = writeHandler<'decideWaitlistRequest'>()({
  read: ({ params }, reader) => reader.get(waitlistRequestKey(params.id)),
  decide({ params, body, now }, item) {
    if (item === null) throw refusal('not-found', 'No such waitlist request.');
    const before = item.value;
    if (before.state !== 'submitted') {
      const detail = `The request is ${before.state}: it can be decided only while it is submitted. Its state allows no change.`;
      throw refusal('state-transition', detail);
    }
    const value: WaitlistRequestValue = { ...before, state: body.outcome, note: body.note, decidedAt: now };
    return {
      target: targetOf(params.id),
      changes: [replaced(item, value)],
      response: { body: withoutContact(value) },
    };
  },
});

function targetOf(id: string): string {
  return `waitlist-request/${id}`;
}

function withoutContact({ contact: _, useCase: __, note: ___, ...shown }: WaitlistRequestValue): WaitlistRequest {
  return shown;
}
