/** The handlers of takedowns. The publisher takes the entries down (publisher/core/log/take-down.ts). */
import type { Takedown } from '../../contract/files/takedowns.ts';
import { created } from '../../storage/ports/changes.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { dueTakedownKey, TAKEDOWNS, type TakedownValue, takedownKey } from '../../storage/records/takedowns.ts';
import { refusal } from '../http/refused-request.ts';
import { type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listTakedowns: ReadHandler<'listTakedowns'> = (request, tools) =>
  paginate(request, tools, {
    range: TAKEDOWNS,
    isAscending: true,
    valuesOf: (items) => items.map(({ sort, value }) => toTakedown(sort, value)),
  });

export const createTakedown = writeHandler<'createTakedown'>()({
  async read({ body: { market } }, reader) {
    return { record: await reader.get(marketKey(market)) };
  },
  markets: ({ body: { market } }) => [market],
  decide({ body: { market, first, last, reason }, now, newId }, { record }) {
    const invalid = (pointer: string, code: string, detail: string) =>
      refusal('validation-failed', 'This takedown is not possible: see errors.', {
        errors: [{ pointer, code, detail }],
      });
    if (record === null) throw invalid('/market', 'market.unknown', `no market ${market}`);
    if (last !== null && last < first) throw invalid('/last', 'invalid', 'must not be before the first entry');
    const { removal } = record.value;
    if (removal === undefined) {
      throw refusal(
        'state-transition',
        `The market ${market} is still public, and its files are rendered from these entries. Remove it first: ` +
          `POST /api/v1/markets/${market}/removal.`,
      );
    }
    const id = newId('tkd');
    const value: TakedownValue = {
      ...{ market, first, last, reason, state: 'waiting', entries: 0, createdAt: now, generation: null },
      next: first,
    };
    return {
      target: `takedown/${id}`,
      changes: [created(takedownKey(id), value, 1), created(dueTakedownKey(id), null)],
      response: { body: toTakedown(id, value), location: '/api/v1/takedowns' },
    };
  },
});

function toTakedown(id: string, { next: _, ...shown }: TakedownValue): Takedown {
  return { id, ...shown };
}
