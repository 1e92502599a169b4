/** The handlers of takedowns. The publisher takes the entries down (publisher/core/log/take-down.ts). */
import type { Takedown } from '../../contract/takedowns.ts';
import { created } from '../../storage/changes.ts';
import type { LedgerReader } from '../../storage/ledger.ts';
import { readAll } from '../../storage/paging.ts';
import { EDITIONS } from '../../storage/records/editions.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { dueTakedownKey, TAKEDOWNS, type TakedownValue, takedownKey } from '../../storage/records/takedowns.ts';
import { type ReadHandler, refuse, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listTakedowns: ReadHandler<'listTakedowns'> = {
  answer: (request, tools) =>
    paginate(request, tools, {
      range: TAKEDOWNS,
      isAscending: true,
      valuesOf: (items) => items.map(({ sort, value }) => toTakedown(sort, value)),
    }),
};

export const createTakedown = writeHandler<'createTakedown'>()({
  async read({ body: { market } }, reader) {
    const [record, editions] = await Promise.all([reader.get(marketKey(market)), openEditions(reader)]);
    return { record, editions };
  },
  markets: ({ body: { market } }) => [market],
  decide({ body: { market, first, last, reason }, now, newId }, { record, editions }) {
    const errors = (pointer: string, code: string, detail: string) =>
      refuse('validation-failed', 'Nothing can be taken down so: see errors.', { errors: [{ pointer, code, detail }] });
    if (record === null) return errors('/market', 'market.unknown', `no market ${market}`);
    if (last !== null && last < first) return errors('/last', 'invalid', 'must not be before the first entry');
    const { removal } = record.value;
    if (removal === undefined) {
      return refuse(
        'state-transition',
        `The market ${market} is public, and its bodies follow from its entries. Remove it first: ` +
          `POST /api/v1/markets/${market}/removal.`,
      );
    }
    const holding = editions.filter(({ createdAt }) => createdAt <= removal.removedAt).map(({ name }) => name);
    if (holding.length > 0) {
      return refuse(
        'conflict',
        `These editions may hold the market, because they are older than its removal: ${holding.join(', ')}. ` +
          'Remove them first: POST /api/v1/editions/{name}/removal.',
      );
    }
    const id = newId('tkd');
    const value: TakedownValue = {
      ...{ market, first, last, reason, state: 'waiting', entries: 0, createdAt: now, generation: null },
      next: first,
    };
    return {
      kind: 'commit',
      target: `takedown/${id}`,
      changes: [created(takedownKey(id), value, 1), created(dueTakedownKey(id), null)],
      response: { body: toTakedown(id, value), location: '/api/v1/takedowns' },
    };
  },
});

/** Those that have bodies, or will have. */
async function openEditions(reader: LedgerReader): Promise<readonly { name: string; createdAt: string }[]> {
  const items = await readAll(reader, EDITIONS);
  return items.flatMap(({ sort, value: { state, createdAt } }) =>
    state === 'removed' || state === 'failed' ? [] : [{ name: sort, createdAt }],
  );
}

function toTakedown(id: string, { next: _, ...shown }: TakedownValue): Takedown {
  return { id, ...shown };
}
