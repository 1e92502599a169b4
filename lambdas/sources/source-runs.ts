/** The handlers of runs. They queue a run; the runner of sources does it. */
import type { SourceRun } from '../../contract/operations/sources.ts';
import { created, replaced } from '../../storage/ports/changes.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import {
  type RunValue,
  runKey,
  runsOfSource,
  runWorkKey,
  sourceKey,
  sourceStateKey,
} from '../../storage/records/sources.ts';
import { refusal } from '../http/refused-request.ts';
import { type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';
import { unchanged } from '../pipeline/preconditions.ts';

export const listSourceRuns: ReadHandler<'listSourceRuns'> = async (request, tools) => {
  const { name } = request.params;
  const page = await paginate(request, tools, {
    range: runsOfSource(name),
    valuesOf: (items) => items.map((item) => shownRun(name, item)),
  });
  const isKnown = page.body.data.length > 0 || (await tools.reader.get(sourceKey(name))) !== null;
  if (!isKnown) throw refusal('not-found', `No source ${name}: see /api/v1/sources.`);
  return page;
};

export const getSourceRun: ReadHandler<'getSourceRun'> = async ({ params: { name, run } }, { reader }) => {
  const item = await reader.get(runKey(name, run));
  if (item === null) throw refusal('not-found', 'No such run.');
  return { body: shownRun(name, item) };
};

export const createSourceRun = writeHandler<'createSourceRun'>()({
  async read({ params: { name } }, reader) {
    const state = await reader.get(sourceStateKey(name));
    const running = state?.value.run ?? null;
    return { state, running: running === null ? null : await reader.get(runKey(name, running)) };
  },
  decide({ params: { name }, body, newId, now }, { state, running }) {
    if (state === null) throw refusal('not-found', `No source ${name}: see /api/v1/sources.`);
    const { value } = state;
    if (running !== null) {
      const response = { body: shownRun(name, running), location: urlOf(name, running.sort) };
      return unchanged(targetOf(name, running.sort), state, response);
    }
    const id = newId('run');
    const run = newRun({ cause: 'request', createdAt: now, attempt: value.failures + 1, ...body });
    return {
      target: targetOf(name, id),
      changes: [replaced(state, { ...value, run: id }), ...newRunChanges(name, id, run)],
      response: { body: shownRun(name, { sort: id, value: run }), location: urlOf(name, id) },
    };
  },
});

export const replaySourceRun = writeHandler<'replaySourceRun'>()({
  read: ({ params: { name, run } }, reader) => reader.get(runKey(name, run)),
  decide({ params: { name, run: replayOf }, newId, now }, item) {
    if (item === null) throw refusal('not-found', 'No such run.');
    const { cause, upload, url, sha256, bytes, recipeSha256, date, lastModified, fetchedAt, listed } = item.value;
    if (upload === null || cause === 'replay') {
      throw refusal('state-transition', 'This run has sent no records: replay one with an upload.');
    }
    const id = newId('run');
    const ofList = fetchedAt !== undefined && listed !== undefined ? { fetchedAt, listed } : {};
    const archived = { url, sha256, bytes, recipeSha256, date, lastModified, ...ofList };
    const run: RunValue = { ...newRun({ cause: 'replay', createdAt: now, attempt: 1 }), ...archived, replayOf };
    return {
      target: targetOf(name, id),
      changes: newRunChanges(name, id, run),
      response: { body: shownRun(name, { sort: id, value: run }), location: urlOf(name, id) },
    };
  },
});

/** A new run. */
export function newRun(
  run: Pick<RunValue, 'cause' | 'createdAt' | 'attempt'> & Partial<Pick<RunValue, 'unconditional'>>,
): RunValue {
  return {
    state: 'waiting',
    outcome: null,
    reason: null,
    startedAt: null,
    finishedAt: null,
    url: null,
    sha256: null,
    bytes: null,
    etag: null,
    lastModified: null,
    recipeSha256: null,
    records: null,
    refusedRows: 0,
    faults: [],
    upload: null,
    counts: null,
    replayOf: null,
    nextRunAt: null,
    date: null,
    unconditional: false,
    ...run,
  };
}

/** The changes that store the run, and the work for a runner. */
export function newRunChanges(source: string, id: string, run: RunValue) {
  return [created(runKey(source, id), run, 1), created(runWorkKey(id), { source, lease: null }, 1)];
}

function shownRun(source: string, { sort, value }: Pick<Item<RunValue>, 'sort' | 'value'>): SourceRun {
  const { date: _, unconditional: __, fetchedAt: ___, listed: ____, ...run } = value;
  return { id: sort, source, ...run };
}

function targetOf(name: string, id: string): string {
  return `source/${name}/runs/${id}`;
}

function urlOf(name: string, id: string): string {
  return `/api/v1/sources/${name}/runs/${id}`;
}
