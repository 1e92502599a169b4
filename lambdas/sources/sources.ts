/** The handlers of sources. They change a source and its state in one transaction; runs change only the state. */
import { isDeepStrictEqual } from 'node:util';
import type { WriteOperationId } from '../../contract/operations/operations.ts';
import type { SourceRecipe, SourceState } from '../../contract/operations/sources.ts';
import { parseRecipe } from '../../mapping/recipe/recipe.ts';
import { nextRunAt } from '../../mapping/recipe/schedule.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { Change, Item, LedgerReader } from '../../storage/ports/ledger.ts';
import {
  SOURCE_STATES,
  type SourceStateValue,
  type SourceValue,
  sourceKey,
  sourceStateKey,
} from '../../storage/records/sources.ts';
import { refusal } from '../http/refused-request.ts';
import { type Commit, type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';
import { checkIfMatch, checkPrecondition, unchanged } from '../pipeline/preconditions.ts';

/** The state of a new source, or of one without any run. */
const NO_RUNS: Omit<SourceStateValue, 'nextRunAt'> = {
  run: null,
  failures: 0,
  lastRun: null,
  lastSuccessAt: null,
  takenIn: null,
};

export const listSources: ReadHandler<'listSources'> = (request, tools) =>
  paginate(request, tools, {
    range: SOURCE_STATES,
    isAscending: true,
    valuesOf: (items) => items.map(toState),
  });

export const getSource: ReadHandler<'getSource'> = async ({ params }, { reader }) => {
  const item = checkIfMatch(null, await reader.get(sourceKey(params.name)));
  return { body: toRecipe(item), revision: item.revision };
};

export const putSource = writeHandler<'putSource'>()({
  async read({ params, body, nowMs }, reader) {
    return { ...(await readSource(params.name, reader)), ...checkedRecipe(body, nowMs) };
  },
  decide(request, { source, state, errors, nextRunAt }) {
    const { params, body, now } = request;
    const faults =
      body.name === params.name || errors.some(({ pointer }) => pointer === '/name')
        ? errors
        : [...errors, { pointer: '/name', code: 'invalid', detail: `must be ${params.name}, as the path says` }];
    if (faults.length > 0) {
      throw refusal('validation-failed', 'The recipe is not valid: see errors.', { errors: faults });
    }
    checkPrecondition(request, source);
    if (source === null || state === null) {
      const value: SourceValue = {
        recipe: body as SourceValue['recipe'],
        paused: false,
        createdAt: now,
        updatedAt: now,
      };
      const key = sourceKey(params.name);
      return {
        target: targetOf(request),
        changes: [created(key, value, 1), created(sourceStateKey(params.name), { nextRunAt, ...NO_RUNS }, 1)],
        response: { body: toRecipe({ ...key, revision: 1, value }), revision: 1 },
      };
    }
    if (isDeepStrictEqual(source.value.recipe, body)) return kept(request, source);
    return changed(
      request,
      source,
      state,
      { recipe: body as SourceValue['recipe'] },
      source.value.paused ? null : nextRunAt,
    );
  },
});

export const deleteSource = writeHandler<'deleteSource'>()({
  read: ({ params }, reader) => readSource(params.name, reader),
  decide(request, { source, state }) {
    const item = checkIfMatch(request.ifMatch, source);
    const changes = [item, ...(state === null ? [] : [state])].map(({ partition, sort, revision }): Change => {
      return { kind: 'delete', key: { partition, sort }, if: { kind: 'revision-is', revision } };
    });
    return { target: targetOf(request), changes, response: { body: null } };
  },
});

export const pauseSource = writeHandler<'pauseSource'>()({
  read: ({ params }, reader) => readSource(params.name, reader),
  decide(request, { source, state }) {
    const item = checkIfMatch(request.ifMatch, source);
    return item.value.paused || state === null
      ? kept(request, item)
      : changed(request, item, state, { paused: true }, null);
  },
});

export const resumeSource = writeHandler<'resumeSource'>()({
  async read({ params, nowMs }, reader) {
    const found = await readSource(params.name, reader);
    return { ...found, nextRunAt: found.source && checkedRecipe(found.source.value.recipe, nowMs).nextRunAt };
  },
  decide(request, { source, state, nextRunAt }) {
    const item = checkIfMatch(request.ifMatch, source);
    return !item.value.paused || state === null
      ? kept(request, item)
      : changed(request, item, state, { paused: false }, nextRunAt);
  },
});

type OneSource = Extract<WriteOperationId, 'putSource' | 'pauseSource' | 'resumeSource'>;

interface Found {
  readonly source: Item<SourceValue> | null;
  readonly state: Item<SourceStateValue> | null;
}

async function readSource(name: string, reader: LedgerReader): Promise<Found> {
  const [source, state] = await reader.getMany([sourceKey(name), sourceStateKey(name)]);
  return { source, state };
}

function checkedRecipe(input: unknown, nowMs: number) {
  const result = parseRecipe(input);
  if ('faults' in result) {
    const errors = result.faults.map(({ pointer, detail }) => ({ pointer, code: 'invalid', detail }));
    return { errors, nextRunAt: null };
  }
  return { errors: [], nextRunAt: new Date(nextRunAt(result.recipe.schedule, nowMs)).toISOString() };
}

function changed<Id extends OneSource>(
  request: OperationRequest<Id>,
  source: Item<SourceValue>,
  state: Item<SourceStateValue>,
  change: Partial<SourceValue>,
  nextRunAt: string | null,
): Commit<Id> {
  const value: SourceValue = { ...source.value, ...change, updatedAt: request.now };
  const revision = source.revision + 1;
  return {
    target: targetOf(request),
    changes: [replaced(source, value), replaced(state, { ...state.value, nextRunAt })],
    response: { body: toRecipe({ ...source, revision, value }), revision } as never,
  };
}

function kept<Id extends OneSource>(request: OperationRequest<Id>, source: Item<SourceValue>): Commit<Id> {
  return unchanged(targetOf(request), source, { body: toRecipe(source), revision: source.revision } as never);
}

function targetOf({ params }: OperationRequest<OneSource | 'deleteSource'>): string {
  return `source/${params.name}`;
}

function toRecipe({ sort, revision, value }: Pick<Item<SourceValue>, 'sort' | 'revision' | 'value'>): SourceRecipe {
  return { name: sort, revision, ...value } as SourceRecipe;
}

function toState({ sort, value }: Item<SourceStateValue>): SourceState {
  const { nextRunAt, run, failures, lastRun, lastSuccessAt } = value;
  return { name: sort, paused: nextRunAt === null, nextRunAt, run, failures, lastRun, lastSuccessAt };
}
