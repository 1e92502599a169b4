/**
 * The handlers of erasures. The request itself erases the urgent parts: contact, texts and keys of an account. The worker
 * erases the rest: see `run-erasure.ts`.
 */
import type { Erasure } from '../../contract/operations/erasures.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { Change, Item, LedgerReader } from '../../storage/ports/ledger.ts';
import {
  type ApiKeyValue,
  accountOf,
  apiKeyKey,
  type ErasureValue,
  erasureKey,
  type WaitlistRequestValue,
  waitlistRequestKey,
  waitlistRequestOf,
} from '../../storage/records/accounts.ts';
import { workKey } from '../../storage/records/batches.ts';
import { LAST_WRITE_MS } from '../credentials/account-cache.ts';
import { refusal } from '../http/refused-request.ts';
import { type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { giveBackKeys, revoked } from './api-keys.ts';

export const createErasure = writeHandler<'createErasure'>()({
  read: ({ body }, reader) => readAccount(body.subject, reader),
  decide({ body, now, nowMs, newId }, account, found) {
    const { subject } = body;
    if (account === 'unknown') {
      const errors = [{ pointer: '/subject', code: 'invalid', detail: 'no waitlist request has this account' }];
      throw refusal('validation-failed', 'There is no such account.', { errors });
    }
    const id = newId('era');
    const value: ErasureValue = { id, subject, requestedAt: now, finishedAt: null };
    return {
      target: `erasure/${id}`,
      changes: erasureChanges(value, account, { now, nowMs }, found),
      response: { body: toErasure(value), location: `/api/v1/erasures/${id}` },
    };
  },
});

export const getErasure: ReadHandler<'getErasure'> = async ({ params }, { reader }) => {
  const item = await reader.get(erasureKey(params.id));
  if (item === null) throw refusal('not-found', 'No such erasure.');
  return { body: toErasure(item.value) };
};

interface Account {
  readonly application: Item<WaitlistRequestValue>;
  readonly keys: readonly Item<ApiKeyValue>[];
}

/** Null for a user, who has no keys. `unknown`: the account is not in the ledger. */
export async function readAccount(subject: string, reader: LedgerReader): Promise<Account | 'unknown' | null> {
  const id = waitlistRequestOf(subject);
  if (id === null) return null;
  const application = await reader.get(waitlistRequestKey(id));
  if (application === null) return 'unknown';
  const keys = await reader.getMany(application.value.keys.map(apiKeyKey));
  return { application, keys: keys.filter((item) => item !== null) };
}

/**
 * The part that the request erases itself, and the work item for the rest. Fits one transaction: an account has at most
 * `FEATURES['api-keys'].maxLimit` keys.
 */
export function erasureChanges(
  value: ErasureValue,
  account: Account | null,
  { now, nowMs }: Pick<OperationRequest, 'now' | 'nowMs'>,
  found: ConflictItems,
): readonly Change[] {
  const { id } = value;
  // The work begins when the keys of the account can no longer write.
  const lease = account && { owner: null, untilMs: nowMs + LAST_WRITE_MS };
  const changes = [
    created(erasureKey(id), value, 1),
    created(workKey(id), { kind: 'erasure', erasure: id, lane: id, lease }),
  ];
  if (account === null) return changes;
  const { application, keys } = account;
  const erased = { contact: null, useCase: null, note: null, state: 'erased' } as const;
  return [
    ...changes,
    // Refused if a key was issued or revoked meanwhile.
    replaced(application, { ...application.value, ...erased, keys: [] }),
    ...keys.map((item) => replaced(item, revoked(item.value, now))),
    ...(keys.length === 0 ? [] : giveBackKeys(accountOf(application.sort), keys.length, nowMs, found)),
  ];
}

function toErasure(value: ErasureValue): Erasure {
  return { ...value, state: value.finishedAt === null ? 'running' : 'finished' };
}
