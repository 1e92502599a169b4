import { created } from '../../storage/ports/changes.ts';
import { dueTakedownKey, type TakedownValue, takedownKey } from '../../storage/records/takedowns.ts';
import type { World } from './world.ts';

/** Asks for a takedown of all entries of a market, as the write API does. */
export async function takeDown({ ledger, dependencies, clock }: World, market: string): Promise<void> {
  const id = `tkd_${'0'.repeat(23)}1`;
  const createdAt = new Date(clock.nowMs).toISOString();
  const range = { first: 0, last: null, next: 0 };
  const value: TakedownValue = {
    ...range,
    ...{ market, reason: 'a test', state: 'waiting', entries: 0, createdAt, generation: null },
  };
  const changes = [created(takedownKey(id), value, 1), created(dueTakedownKey(id), null)];
  const { committed } = await ledger.transact(changes, { attemptId: dependencies.newAttemptId() });
  if (!committed) throw new Error(`the takedown of ${market} was not recorded`);
}
