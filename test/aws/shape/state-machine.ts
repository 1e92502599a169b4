/**
 * Runs a state machine as Step Functions would: as much of Amazon States Language as our one definition uses. A field
 * that is not known here is an error, so that a definition which grows is not taken for less than it is.
 */
import { setTimeout } from 'node:timers/promises';
import pMap from 'p-map';
import type { Properties } from '../../infra/synthesised.ts';
import type { FunctionError } from './hosted-function.ts';

/** An execution that has failed, or a state whose failure nobody catches. */
export class ExecutionFailed extends Error {
  override readonly name = 'ExecutionFailed';
}

export type InvokeByArn = (functionArn: string, payload: unknown) => Promise<unknown>;

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Task: ['Resource', 'Parameters', 'TimeoutSeconds', 'Retry', 'Catch', 'ResultSelector'],
  Map: ['ItemsPath', 'ItemSelector', 'MaxConcurrency', 'ToleratedFailureCount', 'ItemProcessor', 'Catch'],
  Fail: ['Error', 'Cause'],
};
const EVERY_FIELD = ['Type', 'Next', 'End', 'ResultPath', 'OutputPath'];

/**
 * @returns the output of the state that ends it
 * @throws ExecutionFailed
 */
export async function execute(definition: Properties, input: unknown, invoke: InvokeByArn): Promise<unknown> {
  let name: string = definition.StartAt;
  let data = input;
  for (;;) {
    const state = definition.States[name];
    const unknown = Object.keys(state).filter(
      (field) => ![...EVERY_FIELD, ...(FIELDS[state.Type] ?? [])].includes(field),
    );
    if (unknown.length > 0) throw new RangeError(`${name} has fields that are not known here: ${unknown.join(', ')}`);
    if (state.Type === 'Fail') throw new ExecutionFailed(`${state.Error}: ${state.Cause}`);
    let next: string | undefined = state.Next;
    try {
      const result = state.Type === 'Map' ? await runMap(state, data, invoke) : await runTask(state, data, invoke);
      data = pathOf(state.OutputPath ?? '$', placed(data, result, state.ResultPath), {});
    } catch (error) {
      // The only kind of catch that we have takes everything.
      const [handler] = state.Catch ?? [];
      if (handler?.ErrorEquals.join() !== 'States.ALL') throw error;
      const { name, message } = error as Error;
      data = placed(data, { Error: name, Cause: message }, handler.ResultPath);
      next = handler.Next;
    }
    if (next === undefined) return data;
    name = next;
  }
}

async function runTask(state: Properties, data: unknown, invoke: InvokeByArn): Promise<unknown> {
  const { FunctionName, Payload } = filled(state.Parameters, data, {}) as { FunctionName: string; Payload: unknown };
  if (!state.Resource.endsWith(':states:::lambda:invoke')) throw new RangeError(`no such task: ${state.Resource}`);
  const [retry] = state.Retry;
  for (let tries = 0; ; tries++) {
    try {
      const result = { StatusCode: 200, Payload: await invoke(FunctionName, Payload) };
      return state.ResultSelector === undefined ? result : filled(state.ResultSelector, result, {});
    } catch (error) {
      // What ended the environment has no name of the function's own.
      const { name } = error as FunctionError;
      const isListed = retry.ErrorEquals.includes(name.startsWith('Runtime.') ? 'Lambda.Unknown' : name);
      if (!isListed || tries === retry.MaxAttempts) throw error;
      await setTimeout(retry.IntervalSeconds * retry.BackoffRate ** tries * Math.random() * 1000);
    }
  }
}

/** Nothing is tolerated: the first item that fails fails all. */
async function runMap(state: Properties, data: unknown, invoke: InvokeByArn): Promise<unknown> {
  const items = pathOf(state.ItemsPath, data, {}) as unknown[];
  const run = (Value: unknown, Index: number) =>
    execute(state.ItemProcessor, filled(state.ItemSelector, data, { Map: { Item: { Index, Value } } }), invoke);
  return await pMap(items, run, { concurrency: state.MaxConcurrency });
}

/** A template: what is under a name that ends with `.$` is a path into the data, or into the context after `$$`. */
function filled(template: Properties, data: unknown, context: object): unknown {
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([name, value]) =>
      name.endsWith('.$')
        ? [name.slice(0, -2), pathOf(value as string, data, context)]
        : [name, filled(value, data, context)],
    ),
  );
}

/** A reference path of names alone. */
function pathOf(path: string, data: unknown, context: object): unknown {
  const names = path.split('.').slice(1);
  return names.reduce((value, name) => (value as Properties)[name], path.startsWith('$$') ? context : data);
}

/** The input with the result where it belongs: in place of it, in a field of it, or nowhere. */
function placed(data: unknown, result: unknown, path: string | null = '$'): unknown {
  if (path === null) return data;
  return path === '$' ? result : { ...(data as object), [path.slice('$.'.length)]: result };
}
