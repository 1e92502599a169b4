/** The handlers of editions. The publisher chooses the generation, and copies its bodies (publisher/editions/). */
import type { Edition } from '../../contract/editions.ts';
import { editionUrl } from '../../contract/routes.ts';
import { created, removed, replaced } from '../../storage/changes.ts';
import type { Change } from '../../storage/ledger.ts';
import {
  EDITIONS,
  type EditionValue,
  editionKey,
  endedEditionKey,
  waitingEditionKey,
} from '../../storage/records/editions.ts';
import { type ReadHandler, refuse, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listEditions: ReadHandler<'listEditions'> = {
  answer: (request, tools) =>
    paginate(request, tools, {
      range: EDITIONS,
      isAscending: true,
      valuesOf: (items) => items.map(({ sort, value }) => toEdition(sort, value)),
    }),
};

export const createEdition = writeHandler<'createEdition'>()({
  decide({ body: { name, note }, now }, _view, found) {
    const other = found.get(editionKey(name));
    if (other) {
      return refuse(
        'conflict',
        `There is an edition ${name} already, in the state ${other.value.state}. A name is never used again: ` +
          'choose another one.',
      );
    }
    const value = newEdition(note, now);
    return {
      kind: 'commit',
      target: `edition/${name}`,
      changes: editionChanges(name, value),
      response: { body: toEdition(name, value), location: editionUrl(name) },
    };
  },
});

/** The publisher gives up an edition that it is copying; the sweep removes the bodies. */
export const removeEdition = writeHandler<'removeEdition'>()({
  async read({ params: { name } }, reader) {
    const [edition, waiting] = await reader.getMany([editionKey(name), waitingEditionKey(name)]);
    return { edition, waiting };
  },
  decide({ params: { name } }, { edition, waiting }) {
    if (edition === null) return refuse('not-found', `No edition ${name}.`);
    if (edition.value.state === 'removed') return refuse('conflict', `The edition ${name} is removed already.`);
    const value: EditionValue = { ...edition.value, state: 'removed', layout: null };
    return {
      kind: 'commit',
      target: `edition/${name}`,
      changes: [
        replaced(edition, value),
        { kind: 'put', key: endedEditionKey(name), revision: 0, value: null, if: { kind: 'any' } },
        ...(waiting === null ? [] : [removed(waiting)]),
      ],
      response: { body: toEdition(name, value) },
    };
  },
});

/** An edition that waits for its generation. */
export function newEdition(note: string | null, now: string): EditionValue {
  const nothing = { failure: null, generation: null, layout: null, publishedAt: null } as const;
  return { createdAt: now, note, state: 'waiting', ...nothing };
}

export function editionChanges(name: string, value: EditionValue): readonly Change[] {
  return [created(editionKey(name), value, 1), created(waitingEditionKey(name), null)];
}

function toEdition(name: string, { layout, ...shown }: EditionValue): Edition {
  return { name, ...shown, href: editionUrl(name) };
}
